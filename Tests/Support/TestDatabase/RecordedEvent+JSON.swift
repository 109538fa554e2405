public import Encoding
public import EventStore
internal import Foundation

extension RecordedEvent {
    /// All that is recorded; the data is as it was stored.
    public var json: JSON {
        [
            "position": JSON(position), "id": .string(envelope.id.uuidString.lowercased()),
            "stream": .string(envelope.stream.description), "version": JSON(envelope.version),
            "type": .string(envelope.event.type), "format": JSON(envelope.event.format),
            "recorded_at": .string(envelope.recordedAt.description), "data": JSON(readable: envelope.event.data),
            "metadata": JSON(readable: envelope.metadata.utf8),
        ]
    }
}
