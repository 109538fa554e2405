import Testing

@testable import FaultInjection

/// Each check is seen failing: the test changes the log, the clients' record or the subscription's record, and expects exactly
/// this check to fail.
@Suite struct `Checking a log against the clients' records` {
    private struct Case {
        var commands: [CommandRecord]
        var readings: [ReadingRecord]
        var log: [LogRow]
        var handled: [Int64]

        /// Two sign-ups, a creation with two updates, an attendance, a refusal and a command without a response.
        static let whole = Case(
            commands: [
                command("a", "UserCreated", "user-1"), command("b", "UserCreated", "user-2"),
                command("c", "EventCreated", "event-1"), command("d", "EventUpdated", "event-1"),
                command("e", "EventUpdated", "event-1"), command("attendance-1-2", "AttendanceAdded", "attendance-1-2"),
                command("f", "EventCreated", nil, .refused(status: 422)), command("g", "EventCreated", nil, .unknown),
                // The same sign-up again, by a client that got no response.
                command("a", "UserCreated", nil, .unknown),
            ],
            readings: [
                // Another client updated the event before this read.
                ReadingRecord(name: "c", stream: "event-1", position: 2, version: 2),
                ReadingRecord(name: "d", stream: "event-1", position: 4, version: 3),
            ],
            log: [
                row(1, "user-1", 1, "UserCreated", "a"), row(2, "event-1", 1, "EventCreated", "c"),
                row(3, "user-2", 1, "UserCreated", "b"), row(4, "event-1", 2, "EventUpdated", "d"),
                row(5, "attendance-1-2", 1, "AttendanceAdded", "attendance-1-2"), row(6, "event-1", 3, "EventUpdated", "e"),
            ],
            handled: [1, 2, 3, 4, 5, 6]
        )

        static func command(
            _ mark: String, _ type: String, _ stream: String?, _ fate: CommandRecord.Fate = .acknowledged
        ) -> CommandRecord {
            CommandRecord(name: mark, mark: mark, type: type, stream: stream, fate: fate)
        }

        static func row(_ position: Int64, _ stream: String, _ version: Int32, _ type: String, _ mark: String) -> LogRow {
            LogRow(position: position, stream: stream, version: version, type: type, marks: [mark])
        }

        /// Adds a row that the subscription handled.
        mutating func append(_ position: Int64, _ stream: String, _ version: Int32, _ type: String, _ mark: String) {
            log.append(Case.row(position, stream, version, type, mark))
            handled.append(position)
        }

        var violated: Set<Check> {
            Set(Checker(clients: commands, readings: readings, log: log, handled: handled).violations().map(\.check))
        }
    }

    private static func violated(_ tamper: (inout Case) -> Void) -> Set<Check> {
        var tampered = Case.whole
        tamper(&tampered)
        return tampered.violated
    }

    @Test func `a correct log has no violation`() {
        #expect(Case.whole.violated == [])
        // A command without a response may have been recorded.
        #expect(Self.violated { $0.append(7, "event-2", 1, "EventCreated", "g") } == [])
    }

    @Test func `a 410 is a violation unless the event is cancelled in the log`() {
        func violated(cancelled: Bool, _ change: (inout Case) -> Void) -> Set<Check> {
            Self.violated { tampered in
                if cancelled {
                    let mark = Mark.cancellation(event: 1)
                    // Both clients of the family cancelled the event.
                    for _ in 0..<2 { tampered.commands.append(Case.command(mark, "EventCancelled", "event-1")) }
                    tampered.append(7, "event-1", 4, "EventCancelled", mark)
                }
                change(&tampered)
            }
        }
        let changes: [(inout Case) -> Void] = [
            { $0.commands.append(Case.command("h", "EventUpdated", "event-1", .refused(status: 410))) },
            { $0.commands.append(Case.command("attendance-1-9", "AttendanceAdded", "attendance-1-9", .refused(status: 410))) },
            { $0.readings.append(ReadingRecord(name: "d", stream: "event-1", position: 4, version: nil, isGone: true)) },
        ]
        for change in changes {
            #expect(violated(cancelled: true, change) == [])
            #expect(violated(cancelled: false, change) == [.gone])
        }
    }

    @Test func `a command that is not in the log as its client knows it is a violation`() {
        let twice = Self.violated {
            $0.commands.append(Case.command(Mark.cancellation(event: 1), "EventCancelled", "event-1"))
            $0.append(7, "event-1", 4, "EventCancelled", Mark.cancellation(event: 1))
            $0.append(8, "event-1", 5, "EventCancelled", Mark.cancellation(event: 1))
        }
        #expect(twice == [.acknowledgedOnce])
        let lost = Self.violated {
            $0.log.removeLast()
            $0.handled.removeLast()
        }
        #expect(lost == [.acknowledgedOnce])
        // Recorded twice; at another stream or with another type than acknowledged; with two different responses.
        #expect(Self.violated { $0.append(7, "event-2", 1, "EventCreated", "c") } == [.acknowledgedOnce])
        #expect(Self.violated { $0.commands[2].stream = "event-7" } == [.acknowledgedOnce])
        #expect(Self.violated { $0.commands[3].type = "EventCreated" } == [.acknowledgedOnce])
        #expect(Self.violated { $0.commands.append(Case.command("a", "UserCreated", "user-9")) } == [.acknowledgedOnce])
        // A refused command; one without a response twice; one that no client sent.
        #expect(Self.violated { $0.append(7, "event-2", 1, "EventCreated", "f") } == [.refusedNever])
        let unknown = Self.violated {
            $0.append(7, "event-2", 1, "EventCreated", "g")
            $0.append(8, "event-3", 1, "EventCreated", "g")
        }
        #expect(unknown == [.unknownAtMostOnce])
        #expect(Self.violated { $0.append(7, "event-2", 1, "EventCreated", "?") } == [.nothingElse])
    }

    @Test func `a missing, repeated or misplaced position or stream version is a violation`() {
        let missing = Self.violated {
            $0.log[5].position = 7
            $0.handled[5] = 7
        }
        let swapped = Self.violated {
            $0.log.swapAt(0, 2)
            $0.handled.swapAt(0, 2)
        }
        #expect([missing, swapped] == [[.positions], [.positions]])
        #expect(Self.violated { $0.log[5].version = 4 } == [.versions])
        #expect(Self.violated { $0.log[3].version = 1 } == [.versions])
        #expect(Self.violated { $0.log[1].version = 2 } == [.versions])
    }

    @Test func `a read that lacks the write and a response with another event's position are violations`() {
        #expect(Self.violated { $0.readings[1].version = 1 } == [.readings])
        #expect(Self.violated { $0.readings[0].version = nil } == [.readings])
        #expect(Self.violated { $0.readings[0].position = 3 } == [.readings])
        #expect(Self.violated { $0.readings[0].position = 7 } == [.readings])
    }

    @Test func `a subscription that skips, repeats, reorders, stops early or invents positions is a violation`() {
        #expect(Self.violated { $0.handled.remove(at: 2) } == [.subscription])
        #expect(Self.violated { $0.handled.insert(3, at: 3) } == [.subscription])
        #expect(Self.violated { $0.handled.swapAt(2, 3) } == [.subscription])
        #expect(Self.violated { $0.handled.removeLast() } == [.subscription])
        #expect(Self.violated { $0.handled.append(7) } == [.subscription])
    }
}
