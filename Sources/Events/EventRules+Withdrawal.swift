internal import Encoding
internal import EventStore
public import Users

/// An operator's words on why an event is hidden. The log keeps them.
public struct HidingReason: Sendable, Hashable {
    /// The longest reason, in Unicode scalars.
    public static let limit = 1_000

    let text: String

    /// - Throws: ``InvalidError``
    public init(_ text: String) throws(InvalidError) {
        guard !text.isBlank else { throw InvalidError("is blank") }
        guard text.unicodeScalars.count <= Self.limit else {
            throw InvalidError("is longer than \(Self.limit) characters")
        }
        guard !text.utf8.contains(0) else { throw InvalidError("contains a null character") }
        self.text = text
    }

    /// The reason cannot be recorded. The description never shows the reason.
    public struct InvalidError: Error, Hashable, CustomStringConvertible {
        public let description: String

        fileprivate init(_ fault: String) { description = "The reason \(fault)." }
    }
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
func decideCancellation(
    of event: Event?, by caller: UserID, if condition: VersionCondition, mark: (Event) -> UInt32
) throws(EventRejection) -> EventDomainEvent? {
    let event = try event.owned(by: caller)
    guard !event.isCancelled else { return nil }
    guard condition.holds(for: event.version(mark)) else { throw .changedMeanwhile }
    return .cancelled
}

/// An operator may hide a cancelled event too.
/// - Returns: `nil` if the event is hidden already
/// - Throws: ``EventRejection/notFound``
func decideHiding(of event: Event?, reason: HidingReason) throws(EventRejection) -> EventDomainEvent? {
    guard let event else { throw .notFound }
    return event.isHidden ? nil : .hidden(reason: .present(reason.text))
}

/// A cancelled event stays cancelled, so it does not come back.
/// - Returns: `nil` if the event is not hidden
/// - Throws: ``EventRejection/notFound``
func decideUnhiding(of event: Event?) throws(EventRejection) -> EventDomainEvent? {
    guard let event else { throw .notFound }
    guard event.isHidden else { return nil }
    return .unhidden(event.isCancelled ? nil : OwnedDetails(event.details, of: event.owner))
}
