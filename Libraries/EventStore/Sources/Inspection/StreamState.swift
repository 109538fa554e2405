package import Encoding

/// The state of a stream after some of its recorded events.
extension [RecordedEvent] {
    /// Computes the state after the recorded events of one stream, from the first, in the order of versions.
    /// - Returns: every member that any of the domain events gave to the state, with its last value, in the current format
    /// - Throws: ``FormatError`` if this program cannot read a recorded event
    package func state(decodedBy domainEvents: [any DomainEvent.Type]) throws -> JSONObject {
        var members: [JSONObject.Member] = []
        for recorded in self {
            for member in try recorded.state(decodedBy: domainEvents) {
                if let index = members.firstIndex(where: { $0.name == member.name }) {
                    members[index] = member
                } else {
                    members.append(member)
                }
            }
        }
        return JSONObject(members: members)
    }

    /// The recorded events of one stream up to a version; nil if the stream has not reached that version.
    package func upTo(version: Int64) -> [RecordedEvent]? {
        version >= 1 && version <= count ? Array(prefix(Int(version))) : nil
    }

    /// The recorded events of one stream up to the last one that was recorded by a time. Clocks of servers may differ, so the
    /// order of versions decides.
    package func upTo(time: Timestamp) -> [RecordedEvent] {
        Array(prefix((lastIndex { $0.envelope.recordedAt <= time } ?? -1) + 1))
    }
}

extension RecordedEvent {
    fileprivate func state(decodedBy domainEvents: [any DomainEvent.Type]) throws -> [JSONObject.Member] {
        let (category, stored) = (envelope.stream.category, envelope.event)
        guard let domainEvent = domainEvents.first(where: { $0.category == category }) else {
            throw FormatError("no module has streams of category \(category)")
        }
        let event: any DomainEvent
        do { event = try domainEvent.decode(stored, in: envelope.stream, version: envelope.version) } catch {
            throw FormatError("\(envelope.stream) cannot be read by this program: position \(position): \(error)")
        }
        guard case .object(let object) = event.state else { return [] }
        return object.members
    }
}

extension JSONObject {
    /// The members with other values in a later state; nil for a member that a state does not have.
    package func changes(to new: JSONObject) -> [(name: String, old: JSON?, new: JSON?)] {
        let names = new.members.map(\.name)
        let gone = members.map(\.name).filter { !names.contains($0) }
        return (names + gone).compactMap { self[$0] == new[$0] ? nil : ($0, self[$0], new[$0]) }
    }
}
