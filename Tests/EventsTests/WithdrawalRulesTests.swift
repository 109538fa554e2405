import Testing
import Users

@testable import Events

extension Event {
    fileprivate static func picnicOfAnn(isCancelled: Bool = false, isHidden: Bool = false) -> Event {
        var event = Event.picnicOfAnn
        (event.version, event.isCancelled, event.isHidden) = (4, isCancelled, isHidden)
        return event
    }
}

/// The rejection that the decision throws; `nil` if it throws none.
private func rejected<Value>(_ decision: @autoclosure () throws(EventRejection) -> Value) -> EventRejection? {
    do throws(EventRejection) { _ = try decision() } catch { return error }
    return nil
}

@Suite struct `Cancelling an event` {
    private func cancel(
        _ event: Event?, by caller: UserID = .ann, if condition: VersionCondition = VersionCondition()
    ) throws(EventRejection) -> EventDomainEvent? {
        try decideCancellation(of: event, by: caller, if: condition, mark: { _ in 7 })
    }

    @Test func `the owner cancels an event once, and nobody else does`() throws {
        #expect(try cancel(.picnicOfAnn()) == .cancelled)
        #expect(try cancel(.picnicOfAnn(isCancelled: true)) == nil)
        #expect(rejected(try cancel(nil)) == .notFound)
        for isCancelled in [false, true] {
            #expect(rejected(try cancel(.picnicOfAnn(isCancelled: isCancelled), by: .bob)) == .forbidden)
            let hidden = Event.picnicOfAnn(isCancelled: isCancelled, isHidden: true)
            #expect(rejected(try cancel(hidden)) == .hidden)
            #expect(rejected(try cancel(hidden, by: .bob)) == .notFound)
        }
    }

    @Test func `a cancellation of another version than the expected one is rejected, a repeated one is not`() throws {
        func matching(_ versions: EventVersion...) -> VersionCondition { VersionCondition(matching: .these(Set(versions))) }
        let (older, own) = (EventVersion(number: 3, mark: 7), EventVersion(number: 4, mark: 7))
        // The same number with other content, as in a history of which the log lost the end.
        let lost = EventVersion(number: 4, mark: 8)
        for condition in [matching(older, own), matching(own), VersionCondition(notMatching: .these([lost]))] {
            #expect(try cancel(.picnicOfAnn(), if: condition) == .cancelled)
        }
        for condition in [matching(older), matching(lost), VersionCondition(notMatching: .these([own]))] {
            #expect(rejected(try cancel(.picnicOfAnn(), if: condition)) == .changedMeanwhile)
        }
        #expect(try cancel(.picnicOfAnn(isCancelled: true), if: matching(older)) == nil)
    }
}

@Suite struct `Changing an event that is cancelled or hidden` {
    private func update(
        _ event: Event, by caller: UserID, if condition: VersionCondition = VersionCondition()
    ) throws(EventRejection) -> EventDetails? {
        try decide(.replace(.concert), of: event, by: caller, if: condition, mark: { _ in 7 })
    }

    @Test func `only the owner learns that an event is cancelled or hidden`() {
        let event = Event.picnicOfAnn(isCancelled: true)
        #expect(rejected(try update(event, by: .ann)) == .cancelled)
        #expect(rejected(try update(event, by: .bob)) == .forbidden)
        let older = VersionCondition(matching: .these([.init(number: 1, mark: 7)]))
        #expect(rejected(try update(event, by: .ann, if: older)) == .cancelled)
        for isCancelled in [false, true] {
            let hidden = Event.picnicOfAnn(isCancelled: isCancelled, isHidden: true)
            #expect(rejected(try update(hidden, by: .ann)) == .hidden)
            #expect(rejected(try update(hidden, by: .bob)) == .notFound)
        }
    }
}

@Suite struct `Showing an event to a caller` {
    private func live(_ event: Event?, for caller: UserID?) -> EventRejection? {
        rejected(try event.live(for: caller))
    }

    @Test func `a hidden event is unknown to everyone but its owner, and a cancelled one cancelled for everyone`() {
        func shown(_ event: Event?) -> [EventRejection?] { [nil, .ann, .bob].map { live(event, for: $0) } }
        #expect(shown(.picnicOfAnn) == [nil, nil, nil])
        #expect(shown(.picnicOfAnn(isCancelled: true)) == [.cancelled, .cancelled, .cancelled])
        for isCancelled in [false, true] {
            #expect(shown(.picnicOfAnn(isCancelled: isCancelled, isHidden: true)) == [.notFound, .hidden, .notFound])
        }
        #expect(shown(nil) == [.notFound, .notFound, .notFound])
    }
}

@Suite struct `Hiding an event` {
    @Test func `hiding records the reason, unhiding ends it, and each records nothing the second time`() throws {
        let fraud = try HidingReason("Sells tickets that do not exist")
        for isCancelled in [false, true] {
            let shown = Event.picnicOfAnn(isCancelled: isCancelled)
            let hidden = Event.picnicOfAnn(isCancelled: isCancelled, isHidden: true)
            #expect(try decideHiding(of: shown, reason: fraud) == .fraud)
            #expect(try decideHiding(of: hidden, reason: fraud) == nil)
            // A cancelled event does not come back.
            let back = isCancelled ? nil : OwnedDetails(hidden.details, of: .ann)
            #expect(try decideUnhiding(of: hidden) == .unhidden(back))
            #expect(try decideUnhiding(of: shown) == nil)
        }
        #expect(rejected(try decideHiding(of: nil, reason: fraud)) == .notFound)
        #expect(rejected(try decideUnhiding(of: nil)) == .notFound)
    }

    @Test(arguments: [
        ("", "The reason is blank."), (" \n", "The reason is blank."), ("a\0b", "The reason contains a null character."),
        (String(repeating: "é", count: 1_001), "The reason is longer than 1000 characters."),
    ])
    func `a reason that cannot be recorded is refused`(reason: String, fault: String) throws {
        #expect(try HidingReason(String(repeating: "é", count: 1_000)).text.count == 1_000)
        do {
            _ = try HidingReason(reason)
            Issue.record("the reason is accepted")
        } catch {
            #expect(error.description == fault)
        }
    }
}
