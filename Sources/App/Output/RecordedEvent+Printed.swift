internal import Encoding
internal import EventStore
internal import Foundation

/// The columns of recorded events, which are the same in every command.
extension RecordedEvent {
    static let columns: [Column] = [
        Column("position", width: 9), "recorded_at", Column("stream", width: 14), Column("version", yields: true),
        Column("type", width: 15),
        Column("format", isForPrograms: true), Column("id", isForPrograms: true), Column("actor", width: 6, yields: true),
        Column("request_id", width: 12, yields: true), Column("trace_id", isForPrograms: true), "data",
    ]

    func row(showing personalData: PersonalData) -> [Field] {
        let event = envelope.event
        // `humon log verify` reports metadata that cannot be read.
        let metadata = try? envelope.metadata.values()
        let data = personalData.shown(JSON(readable: event.data), type: event.type, category: envelope.stream.category)
        return [
            .number(position), .time(envelope.recordedAt), .text(envelope.stream.description),
            .number(envelope.version), .text(event.type), .number(event.format), .text(envelope.id.uuidString.lowercased()),
            metadata?.actor.map { .number($0) } ?? .none, .text(metadata?.requestID), .text(metadata?.traceID), .json(data),
        ]
    }

    func record(showing personalData: PersonalData) -> Record {
        Record(fields: zip(Self.columns, row(showing: personalData)).map { (name: $0.name, value: $1) })
    }
}
