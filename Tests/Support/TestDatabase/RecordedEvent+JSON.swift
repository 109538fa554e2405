public import Encoding
public import EventStore
internal import Foundation

extension RecordedEvent {
    /// All that is recorded; the data has facts and personal members together.
    public var json: JSON {
        [
            "position": JSON(position), "id": .string(envelope.id.uuidString.lowercased()),
            "stream": .string(envelope.stream.description), "version": JSON(envelope.version),
            "type": .string(envelope.event.type), "format": JSON(envelope.event.format),
            "recorded_at": .string(envelope.recordedAt.description), "data": data,
            "metadata": JSON(readable: envelope.metadata.utf8),
        ]
    }

    private var data: JSON {
        let facts = JSON(readable: envelope.event.facts)
        guard case .present(let personal) = envelope.event.personal, case .object(let own) = JSON(readable: personal),
            case .object(let object) = facts
        else { return facts }
        return .object(JSONObject(members: object.members + own.members))
    }
}
