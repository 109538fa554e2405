public import Encoding

/// The state of a stream after one of its recorded events. A later domain event overwrites the members of earlier ones.
public struct StreamState: Sendable, Hashable {
    /// The version of the last recorded event in the state.
    public var version: Int32
    public var position: Int64
    public var recordedAt: Timestamp
    /// Every member that any of the domain events gave to the state, with its last value.
    public var members: JSONObject

    /// Computes the state after all of these recorded events.
    /// - Parameters:
    ///   - recorded: the recorded events of one stream, ordered by version, from the first
    ///   - domainEvents: the domain events of all modules
    /// - Returns: nil if `recorded` is empty
    /// - Throws: ``FormatError`` if this program cannot read a recorded event
    public init?(after recorded: [RecordedEvent], decodedBy domainEvents: [any DomainEvent.Type]) throws {
        guard let last = recorded.last else { return nil }
        version = last.envelope.version
        position = last.position
        recordedAt = last.envelope.recordedAt
        var members: [JSONObject.Member] = []
        for recorded in recorded {
            for member in try recorded.state(decodedBy: domainEvents) {
                if let index = members.firstIndex(where: { $0.name == member.name }) {
                    members[index] = member
                } else {
                    members.append(member)
                }
            }
        }
        self.members = JSONObject(members: members)
    }

    /// The members with different values in two states; nil for a member that a state does not have.
    public static func changes(from old: StreamState, to new: StreamState) -> [(name: String, old: JSON?, new: JSON?)] {
        let names = new.members.members.map(\.name)
        let gone = old.members.members.map(\.name).filter { !names.contains($0) }
        return (names + gone).compactMap { name in
            old.members[name] == new.members[name] ? nil : (name, old.members[name], new.members[name])
        }
    }
}

extension [RecordedEvent] {
    /// The recorded events of one stream up to a version; nil if the stream has not reached that version.
    public func upTo(version: Int32) -> [RecordedEvent]? {
        version >= 1 && version <= count ? Array(prefix(Int(version))) : nil
    }

    /// The recorded events of one stream up to the last one that was recorded by a time. Clocks of servers may differ, so the
    /// order of versions decides.
    public func upTo(time: Timestamp) -> [RecordedEvent] {
        Array(prefix((lastIndex { $0.envelope.recordedAt <= time } ?? -1) + 1))
    }
}

extension RecordedEvent {
    /// Returns the members of the current format, even if an older format is stored.
    fileprivate func state(decodedBy domainEvents: [any DomainEvent.Type]) throws -> [JSONObject.Member] {
        let (category, stored) = (envelope.stream.category, envelope.event)
        guard let domainEvent = domainEvents.first(where: { $0.category == category }) else {
            throw FormatError("no module has streams of category \(category)")
        }
        let event: any DomainEvent
        do { event = try domainEvent.decode(stored, in: envelope.stream, version: envelope.version) } catch {
            throw FormatError("position \(position): \(error)")
        }
        guard case .object(let object) = event.state else { return [] }
        return object.members
    }
}
