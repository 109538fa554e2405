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
        try decide(CancelEvent(id: Event.picnicOfAnn.id, by: caller, condition: condition), on: event, mark: { _ in 7 })
    }

    @Test func `the owner cancels an event`() throws {
        #expect(try cancel(.picnicOfAnn()) == .cancelled)
    }

    @Test func `an unknown event cannot be cancelled`() {
        #expect(rejected(try cancel(nil)) == .notFound)
    }

    @Test func `a user who does not own the event may not cancel it, cancelled or not`() {
        for isCancelled in [false, true] {
            #expect(
                rejected(try cancel(.picnicOfAnn(isCancelled: isCancelled), by: .bob))
                    == .forbidden)
        }
    }

    @Test func `cancelling a cancelled event records nothing`() throws {
        #expect(try cancel(.picnicOfAnn(isCancelled: true)) == nil)
    }

    @Test func `a cancellation of another version than the expected one is rejected`() throws {
        let older = VersionCondition(matching: .these([.init(number: 3, mark: 7)]))
        #expect(rejected(try cancel(.picnicOfAnn(), if: older)) == .changedMeanwhile)
        #expect(
            try cancel(
                .picnicOfAnn(), if: VersionCondition(matching: .these([.init(number: 3, mark: 7), .init(number: 4, mark: 7)])))
                == .cancelled
        )
        #expect(try cancel(.picnicOfAnn(), if: VersionCondition(matching: .these([.init(number: 4, mark: 7)]))) == .cancelled)
        // The same number with other content, as in a history of which the log lost the end.
        let lost = VersionCondition(matching: .these([.init(number: 4, mark: 8)]))
        #expect(rejected(try cancel(.picnicOfAnn(), if: lost)) == .changedMeanwhile)
        #expect(try cancel(.picnicOfAnn(), if: VersionCondition(notMatching: .these([.init(number: 4, mark: 8)]))) == .cancelled)
        let known = VersionCondition(notMatching: .these([.init(number: 4, mark: 7)]))
        #expect(rejected(try cancel(.picnicOfAnn(), if: known)) == .changedMeanwhile)
    }

    @Test func `a repeated cancellation with the version before the first one records nothing`() throws {
        #expect(
            try cancel(.picnicOfAnn(isCancelled: true), if: VersionCondition(matching: .these([.init(number: 3, mark: 7)])))
                == nil)
    }

    @Test func `a hidden event is rejected as hidden to its owner, and as unknown to others`() {
        for isCancelled in [false, true] {
            let event = Event.picnicOfAnn(isCancelled: isCancelled, isHidden: true)
            #expect(rejected(try cancel(event)) == .hidden)
            #expect(rejected(try cancel(event, by: .bob)) == .notFound)
        }
    }
}

@Suite struct `Changing an event that is cancelled or hidden` {
    private func update(
        _ event: Event, by caller: UserID, if condition: VersionCondition = VersionCondition()
    ) throws(EventRejection) -> EventUpdated? {
        try decide(
            UpdateEvent(id: event.id, change: .replace(.concert), by: caller, condition: condition), on: event, mark: { _ in 7 })
    }

    @Test func `the owner of a cancelled event gets the cancellation, and others a prohibition`() {
        let event = Event.picnicOfAnn(isCancelled: true)
        #expect(rejected(try update(event, by: .ann)) == .cancelled)
        #expect(rejected(try update(event, by: .bob)) == .forbidden)
        let older = VersionCondition(matching: .these([.init(number: 1, mark: 7)]))
        #expect(rejected(try update(event, by: .ann, if: older)) == .cancelled)
    }

    @Test func `a hidden event is rejected as hidden to its owner, and as unknown to others`() {
        for isCancelled in [false, true] {
            let event = Event.picnicOfAnn(isCancelled: isCancelled, isHidden: true)
            #expect(rejected(try update(event, by: .ann)) == .hidden)
            #expect(rejected(try update(event, by: .bob)) == .notFound)
        }
    }
}

@Suite struct `Showing an event to a caller` {
    private func live(_ event: Event?, for caller: UserID?) -> EventRejection? {
        rejected(try event.live(for: caller))
    }

    @Test func `a live event is shown to everyone`() {
        for caller in [nil, .ann, .bob] as [UserID?] { #expect(live(.picnicOfAnn, for: caller) == nil) }
    }

    @Test func `a cancelled event is cancelled for everyone`() {
        for caller in [nil, .ann, .bob] as [UserID?] { #expect(live(.picnicOfAnn(isCancelled: true), for: caller) == .cancelled) }
    }

    @Test func `a hidden event is unknown to everyone but its owner`() {
        for isCancelled in [false, true] {
            let event = Event.picnicOfAnn(isCancelled: isCancelled, isHidden: true)
            #expect([nil, .ann, .bob].map { live(event, for: $0) } == [.notFound, .hidden, .notFound])
        }
    }

    @Test func `an event that does not exist is unknown`() {
        #expect(live(nil, for: .ann) == .notFound)
    }
}

@Suite struct `Hiding an event` {
    private static let command = try? HideEvent(id: Event.picnicOfAnn.id, reason: "Sells tickets that do not exist")

    @Test func `hiding records the reason, and hiding a hidden event records nothing`() throws {
        let command = try #require(Self.command)
        for isCancelled in [false, true] {
            #expect(try decide(command, on: .picnicOfAnn(isCancelled: isCancelled)) == .hidden(.fraud))
            #expect(try decide(command, on: .picnicOfAnn(isCancelled: isCancelled, isHidden: true)) == nil)
        }
    }

    @Test func `unhiding records that, and unhiding a visible event records nothing`() throws {
        let command = UnhideEvent(id: Event.picnicOfAnn.id)
        for isCancelled in [false, true] {
            #expect(try decide(command, on: .picnicOfAnn(isCancelled: isCancelled, isHidden: true)) == .unhidden)
            #expect(try decide(command, on: .picnicOfAnn(isCancelled: isCancelled)) == nil)
        }
    }

    @Test func `an unknown event can be neither hidden nor unhidden`() throws {
        let hide = try #require(Self.command)
        #expect(rejected(try decide(hide, on: nil)) == .notFound)
        #expect(rejected(try decide(UnhideEvent(id: hide.id), on: nil)) == .notFound)
    }

    @Test(arguments: [
        ("", "The reason is blank."), (" \n", "The reason is blank."), ("a\0b", "The reason contains a null character."),
        (String(repeating: "é", count: 1_001), "The reason is longer than 1000 characters."),
    ])
    func `a reason that cannot be recorded is refused`(reason: String, fault: String) {
        do {
            _ = try HideEvent(id: Event.picnicOfAnn.id, reason: reason)
            Issue.record("the reason is accepted")
        } catch {
            #expect(error.description == fault)
        }
    }

    @Test func `a reason of 1,000 characters is accepted`() throws {
        #expect(try HideEvent(id: Event.picnicOfAnn.id, reason: String(repeating: "é", count: 1_000)).reason.count == 1_000)
    }
}
