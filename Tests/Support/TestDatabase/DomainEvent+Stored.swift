internal import Encoding
public import EventStore
internal import Foundation

extension StoredEvent {
    /// Makes a stored domain event whose facts and personal members a test writes down as one object. The log has them apart.
    /// - Parameter data: other data than an object become facts
    public init(type: String, format: Int16, together data: [UInt8], of domainEvent: any DomainEvent.Type) {
        self.init(type: type, format: format, facts: data)
        guard case .object(let object)? = try? JSON(utf8: data) else { return }
        func part(isPersonal: Bool) -> [JSONObject.Member] {
            object.members.filter { domainEvent.personal.names.contains($0.name) == isPersonal }
        }
        let own = part(isPersonal: true)
        guard !own.isEmpty else { return }
        facts = JSON.object(JSONObject(members: part(isPersonal: false))).utf8
        personal = .present(JSON.object(JSONObject(members: own)).utf8)
    }
}

extension DomainEvent {
    /// - Throws: `FormatError`
    public static func decode(_ type: String, format: Int16 = 1, together data: [UInt8]) throws -> Self {
        try decode(StoredEvent(type: type, format: format, together: data, of: Self.self))
    }

    /// Why stored data is refused; `nil` if it is read.
    public static func refusal(of type: String, _ text: String) -> String? {
        do { _ = try decode(type, together: Array(text.utf8)) } catch { return "\(error)" }
        return nil
    }

    /// Why this domain event may not stand at a version of a stream; `nil` if it may.
    public func refusal(in stream: String, version: Int32) -> String? {
        let (type, data) = stored
        let event = StoredEvent(type: type, format: 1, together: data.utf8, of: Self.self)
        do { _ = try Self.decode(event, in: StreamName(stream), version: version) } catch { return "\(error)" }
        return nil
    }
}

extension DomainEvent where Self: Equatable {
    /// What is wrong with the stored forms that a test writes down; empty if nothing is. The bytes hold in both directions. Without its
    /// personal members an event has its facts after an erasure, and is refused if there never was one.
    public static func faults(of examples: [(event: Self, type: String, text: String)]) -> [String] {
        examples.flatMap { event, type, text -> [String] in
            let written = event.stored
            var stored = StoredEvent(type: type, format: 1, together: Array(text.utf8), of: Self.self)
            var checks = [("other bytes", written.type == type && written.data.text == text)]
            checks.append(("another event", (try? decode(stored)) == event))
            if case .present = stored.personal {
                stored.personal = .erased
                let erased = try? decode(stored)
                let (left, data) = (erased?.stored.type, erased?.stored.data.utf8)
                checks.append(("words of an erased one", erased != event && left == type && data == stored.facts))
                let facts = String(decoding: stored.facts, as: UTF8.self)
                let reason = "\(type), format 1: no personal members in the stored data"
                checks.append(("no refusal without words", refusal(of: type, facts) == reason))
            }
            return checks.filter { !$0.1 }.map { "\(type): \($0.0)" }
        }
    }

    /// Whether faulty data is refused with a `FormatError`, or reads back as the event that it was read as.
    /// - Throws: another error than a `FormatError` of the faulty data
    public static func isFaithful(to data: [UInt8], as type: String) throws -> Bool {
        let event: Self
        do { event = try decode(type, together: data) } catch is FormatError { return true }
        return try decode(type, together: event.stored.data.utf8) == event
    }
}

extension EventEnvelope {
    /// A domain event in its place, as tests of folds need it.
    /// - Parameter milliseconds: the time of the recorded event
    public static func of(_ event: Event, in stream: String, version: Int32, at milliseconds: Int64 = 0) -> EventEnvelope {
        EventEnvelope(
            id: UUID(derivedFrom: "\(stream) \(version)"), stream: StreamName(stream), version: version,
            recordedAt: Timestamp(milliseconds: milliseconds), metadata: Metadata(requestID: "test", actor: nil, traceID: nil),
            event: event)
    }
}
