public import Encoding

/// A thing as it was after one of its recorded events: the data of its domain events, one laid over the other.
public struct StreamState: Sendable, Hashable {
    /// Of the last recorded event that counts.
    public var version: Int32
    public var position: Int64
    public var recordedAt: Timestamp
    /// Every member that any domain event had, with its last value.
    public var members: JSONObject

    /// The thing after all of these.
    /// - Parameters:
    ///   - recorded: of one stream, by version, from the first
    ///   - domainEvents: of all modules
    /// - Returns: nil where there are none
    /// - Throws: ``FormatError`` where one cannot be read; what follows it could not be told from what it said
    public init?(after recorded: [RecordedEvent], decodedBy domainEvents: [any DomainEvent.Type]) throws {
        guard let last = recorded.last else { return nil }
        version = last.envelope.version
        position = last.position
        recordedAt = last.envelope.recordedAt
        var members: [JSONObject.Member] = []
        for recorded in recorded {
            for member in try recorded.currentData(decodedBy: domainEvents) {
                if let index = members.firstIndex(where: { $0.name == member.name }) {
                    members[index] = member
                } else {
                    members.append(member)
                }
            }
        }
        self.members = JSONObject(members: members)
    }

    /// What changed between two states of a thing: members whose values differ, nil where one did not have it yet.
    public static func changes(from old: StreamState, to new: StreamState) -> [(name: String, old: JSON?, new: JSON?)] {
        let names = new.members.members.map(\.name)
        let gone = old.members.members.map(\.name).filter { !names.contains($0) }
        return (names + gone).compactMap { name in
            old.members[name] == new.members[name] ? nil : (name, old.members[name], new.members[name])
        }
    }
}

extension [RecordedEvent] {
    /// Those of one stream up to a version, or nil where it has not come that far.
    public func upTo(version: Int32) -> [RecordedEvent]? {
        version >= 1 && version <= count ? Array(prefix(Int(version))) : nil
    }

    /// Those of one stream up to the last that was recorded until then. Clocks may differ from server to server; versions rule.
    public func upTo(time: Timestamp) -> [RecordedEvent] {
        Array(prefix((lastIndex { $0.envelope.recordedAt <= time } ?? -1) + 1))
    }
}

extension RecordedEvent {
    /// In the current format, whatever was stored.
    fileprivate func currentData(decodedBy domainEvents: [any DomainEvent.Type]) throws -> [JSONObject.Member] {
        let (category, stored) = (envelope.stream.category, envelope.event)
        guard let domainEvent = domainEvents.first(where: { $0.category == category }) else {
            throw FormatError("no module has streams of category \(category)")
        }
        let event: any DomainEvent
        do { event = try domainEvent.decode(stored, in: envelope.stream, version: envelope.version) } catch {
            throw FormatError("position \(position): \(error)")
        }
        guard case .object(let object) = event.stored.data else { return [] }
        return object.members
    }
}
