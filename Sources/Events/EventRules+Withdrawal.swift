public import Users

/// Cancel an event. That is final.
public struct CancelEvent: Sendable, Hashable {
    public var id: EventID
    public var by: UserID
    public var condition: VersionCondition

    public init(id: EventID, by: UserID, condition: VersionCondition = VersionCondition()) {
        self.id = id
        self.by = by
        self.condition = condition
    }
}

/// Hide an event from all users. Only operators do this.
public struct HideEvent: Sendable, Hashable {
    /// The longest reason, in Unicode scalars.
    public static let reasonLimit = 1_000

    public let id: EventID
    public let reason: String

    /// - Parameter reason: the operator's words, which the log keeps
    /// - Throws: ``ReasonError``
    public init(id: EventID, reason: String) throws(ReasonError) {
        guard !reason.unicodeScalars.allSatisfy(\.properties.isWhitespace) else { throw ReasonError("is blank") }
        guard reason.unicodeScalars.count <= Self.reasonLimit else {
            throw ReasonError("is longer than \(Self.reasonLimit) characters")
        }
        guard !reason.utf8.contains(0) else { throw ReasonError("contains a null character") }
        self.id = id
        self.reason = reason
    }

    /// The reason cannot be recorded. The description never shows the reason.
    public struct ReasonError: Error, Hashable, CustomStringConvertible {
        public let description: String

        fileprivate init(_ fault: String) { description = "The reason \(fault)." }
    }
}

/// Show a hidden event again. Only operators do this.
public struct UnhideEvent: Sendable, Hashable {
    public var id: EventID

    public init(id: EventID) { self.id = id }
}

extension Event? {
    /// Checks that a caller may know of the event. A hidden event looks to everyone but its owner as if it were not there.
    /// - Parameter caller: `nil` if the caller is not known
    /// - Throws: ``EventRejection/notFound``, and ``EventRejection/hidden`` for the owner
    @discardableResult
    public func visible(to caller: UserID?) throws(EventRejection) -> Event {
        guard let self else { throw .notFound }
        guard !self.isHidden else { throw self.owner == caller ? .hidden : .notFound }
        return self
    }

    /// Checks that the event is ``visible(to:)`` and not cancelled.
    /// - Throws: ``EventRejection/notFound``, ``EventRejection/hidden``, ``EventRejection/cancelled``
    @discardableResult
    public func live(for caller: UserID?) throws(EventRejection) -> Event {
        let event = try visible(to: caller)
        guard !event.isCancelled else { throw .cancelled }
        return event
    }

    /// Checks that the event is visible to the caller, who must be its owner.
    /// - Throws: ``EventRejection/notFound``, ``EventRejection/hidden``, ``EventRejection/forbidden``
    func owned(by caller: UserID) throws(EventRejection) -> Event {
        let event = try visible(to: caller)
        guard event.owner == caller else { throw .forbidden }
        return event
    }
}

/// Only the owner may cancel an event. A repetition changes nothing, whatever version the owner expects: the first cancellation has
/// changed the version. Source: RFC 9110, section 13.1.1.
/// - Parameter mark: returns the mark of an event's content
/// - Returns: `nil` if the event is cancelled already
/// - Throws: ``EventRejection``
func decide(_ command: CancelEvent, on event: Event?, mark: (Event) -> UInt32) throws(EventRejection) -> EventDomainEvent? {
    let event = try event.owned(by: command.by)
    guard !event.isCancelled else { return nil }
    guard command.condition.holds(for: event.version(mark)) else { throw .changedMeanwhile }
    return .cancelled
}

/// An operator may hide a cancelled event too.
/// - Returns: `nil` if the event is hidden already
/// - Throws: ``EventRejection/notFound``
func decide(_ command: HideEvent, on event: Event?) throws(EventRejection) -> EventDomainEvent? {
    guard let event else { throw .notFound }
    return event.isHidden ? nil : .hidden(EventHidden(reason: command.reason))
}

/// A cancelled event stays cancelled.
/// - Returns: `nil` if the event is not hidden
/// - Throws: ``EventRejection/notFound``
func decide(_ command: UnhideEvent, on event: Event?) throws(EventRejection) -> EventDomainEvent? {
    guard let event else { throw .notFound }
    return event.isHidden ? .unhidden : nil
}
