import Testing

/// Each check is seen failing: a log, the clients' record or what the subscription saw is tampered with, and the checker must say so
/// and nothing else.
@Suite struct `The checker` {
    private struct Case {
        var commands: [CommandRecord]
        var readings: [ReadingRecord]
        var log: [LogRow]
        var followed: [Int64]

        /// Two sign-ups, a creation with two updates, an attendance, a refusal and a command that was never answered.
        static let whole = Case(
            commands: [
                command("a", "UserCreated", "user-1"), command("b", "UserCreated", "user-2"),
                command("c", "EventCreated", "event-1"), command("d", "EventUpdated", "event-1"),
                command("e", "EventUpdated", "event-1"), command("attendance-1-2", "AttendanceAdded", "attendance-1-2"),
                command("f", "EventCreated", nil, .refused(status: 422)), command("g", "EventCreated", nil, .unknown),
                // The same again, by somebody who was never told.
                command("a", "UserCreated", nil, .unknown),
            ],
            readings: [
                // Somebody else was faster.
                ReadingRecord(name: "c", stream: "event-1", position: 2, version: 2),
                ReadingRecord(name: "d", stream: "event-1", position: 4, version: 3),
            ],
            log: [
                row(1, "user-1", 1, "UserCreated", "a"), row(2, "event-1", 1, "EventCreated", "c"),
                row(3, "user-2", 1, "UserCreated", "b"), row(4, "event-1", 2, "EventUpdated", "d"),
                row(5, "attendance-1-2", 1, "AttendanceAdded", "attendance-1-2"), row(6, "event-1", 3, "EventUpdated", "e"),
            ],
            followed: [1, 2, 3, 4, 5, 6]
        )

        static func command(
            _ mark: String, _ type: String, _ stream: String?, _ fate: CommandRecord.Fate = .acknowledged
        ) -> CommandRecord {
            CommandRecord(name: mark, mark: mark, type: type, stream: stream, fate: fate)
        }

        static func row(_ position: Int64, _ stream: String, _ version: Int32, _ type: String, _ mark: String) -> LogRow {
            LogRow(position: position, stream: stream, version: version, type: type, marks: [mark])
        }

        var violated: Set<Check> {
            Set(Checker(clients: commands, readings: readings, log: log, followed: followed).violations().map(\.check))
        }
    }

    private static func violated(_ tamper: (inout Case) -> Void) -> Set<Check> {
        var tampered = Case.whole
        tamper(&tampered)
        return tampered.violated
    }

    @Test func `finds nothing where nothing is wrong`() {
        #expect(Case.whole.violated == [])
        // What was never answered may have been done.
        let done = Self.violated { tampered in
            tampered.log.append(Case.row(7, "event-2", 1, "EventCreated", "g"))
            tampered.followed.append(7)
        }
        #expect(done == [])
    }

    @Test func `finds an acknowledged command that is lost`() {
        let lost = Self.violated { tampered in
            tampered.log.removeLast()
            tampered.followed.removeLast()
        }
        #expect(lost == [.acknowledgedOnce])
    }

    @Test func `finds an acknowledged command that was carried out twice`() {
        let twice = Self.violated { tampered in
            tampered.log.append(Case.row(7, "event-2", 1, "EventCreated", "c"))
            tampered.followed.append(7)
        }
        #expect(twice == [.acknowledgedOnce])
    }

    @Test func `finds an acknowledged command elsewhere than its answer said, or as something else`() {
        #expect(Self.violated { $0.commands[2].stream = "event-7" } == [.acknowledgedOnce])
        #expect(Self.violated { $0.commands[3].type = "EventCreated" } == [.acknowledgedOnce])
    }

    @Test func `finds two answers to one command that differ`() {
        let differing = Self.violated { $0.commands.append(Case.command("a", "UserCreated", "user-9")) }
        #expect(differing == [.acknowledgedOnce])
    }

    @Test func `finds what was refused and recorded`() {
        let refused = Self.violated { tampered in
            tampered.log.append(Case.row(7, "event-2", 1, "EventCreated", "f"))
            tampered.followed.append(7)
        }
        #expect(refused == [.refusedNever])
    }

    @Test func `finds a command that was never answered and carried out twice`() {
        let twice = Self.violated { tampered in
            tampered.log += [
                Case.row(7, "event-2", 1, "EventCreated", "g"), Case.row(8, "event-3", 1, "EventCreated", "g"),
            ]
            tampered.followed += [7, 8]
        }
        #expect(twice == [.unknownAtMostOnce])
    }

    @Test func `finds what nobody sent`() {
        let foreign = Self.violated { tampered in
            tampered.log.append(Case.row(7, "event-2", 1, "EventCreated", "?"))
            tampered.followed.append(7)
        }
        #expect(foreign == [.nothingElse])
    }

    @Test func `finds a position that is missing, and one that is not where it should be`() {
        let missing = Self.violated { tampered in
            tampered.log[5].position = 7
            tampered.followed[5] = 7
        }
        #expect(missing == [.positions])
        let swapped = Self.violated { tampered in
            tampered.log.swapAt(0, 2)
            tampered.followed.swapAt(0, 2)
        }
        #expect(swapped == [.positions])
    }

    @Test func `finds a stream's version that is missing, repeated or out of order`() {
        #expect(Self.violated { $0.log[5].version = 4 } == [.versions])
        #expect(Self.violated { $0.log[3].version = 1 } == [.versions])
        #expect(Self.violated { $0.log[1].version = 2 } == [.versions])
    }

    @Test func `finds a read that does not show what was written, and an answer that names another's position`() {
        #expect(Self.violated { $0.readings[1].version = 1 } == [.readings])
        #expect(Self.violated { $0.readings[0].version = nil } == [.readings])
        #expect(Self.violated { $0.readings[0].position = 3 } == [.readings])
        #expect(Self.violated { $0.readings[0].position = 7 } == [.readings])
    }

    @Test func `finds a subscription that skipped, repeated, overtook, stopped early or made something up`() {
        #expect(Self.violated { $0.followed.remove(at: 2) } == [.subscription])
        #expect(Self.violated { $0.followed.insert(3, at: 3) } == [.subscription])
        #expect(Self.violated { $0.followed.swapAt(2, 3) } == [.subscription])
        #expect(Self.violated { $0.followed.removeLast() } == [.subscription])
        #expect(Self.violated { $0.followed.append(7) } == [.subscription])
    }
}
