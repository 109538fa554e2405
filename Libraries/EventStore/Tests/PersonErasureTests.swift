import Encoding
import Foundation
import Postgres
import Synchronization
import TestDatabase
import Testing

@testable import EventStore

/// A person, whose notes are the streams of the category `note`.
enum PersonEvent: DomainEvent, Hashable {
    case created
    case erased

    static let category = "person"
    static let storedTypes = [StoredType("PersonCreated"), StoredType("PersonErased")]
    static let personal = PersonalMembers.ofThePerson([])

    init(type: String, content: EventContent) throws { self = type == "PersonErased" ? .erased : .created }

    var stored: (type: String, data: JSON) {
        switch self {
        case .created: ("PersonCreated", [:])
        case .erased: ("PersonErased", [:])
        }
    }
}

extension TestStore {
    /// The modules of persons, of notes and of counters. All notes belong to every person, and all counters to nobody.
    private static let modules = [
        StoredModule("persons", domainEvents: [PersonEvent.self], projections: []),
        StoredModule("notes", domainEvents: [NoteEvent.self], projections: [NotesProjection()]),
        StoredModule("counters", domainEvents: [Counted.self], projections: [SumProjection()]),
    ]

    func composition(_ list: ErasureList? = nil) -> Composition {
        var composition = Composition(
            log: log, database: client, dependencies: .system, modules: Self.modules, logger: .quiet)
        if let list { composition.add(list) }
        return composition
    }

    /// Runs the subscription that erases, as a node of its own would, until the body has ended.
    func withErasures(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withErasures(find: NoteEvent.ofPerson.find, body)
    }

    fileprivate func withErasures(
        find: @escaping PersonalStreams.Find, timing: SubscriptionRunner.Timing = .test,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        var erasure = ErasureSubscription(composition())
        erasure.parts = [PersonalStreams(of: PersonEvent.category, find: find)]
        try await Self.withNotifier(client, listens: true, pollSeconds: 0.05) { [erasure] notifier in
            let runner = SubscriptionRunner(erasure, client: client, notifier: notifier, timing: timing, logger: .quiet)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await runner.run() }
                defer { group.cancelAll() }
                try await body()
            }
        }
    }

    /// The person whom ``erasePerson()`` erases.
    static let erased = StreamName("person-7")

    /// Erases a person, which is one small append.
    func erasePerson(_ person: StreamName = erased) async throws -> Int64 {
        var request = AppendRequest.counting("", after: 0)
        for (version, event) in [PersonEvent.created, .erased].enumerated() {
            request = AppendRequest(
                id: UUID(), streams: [StreamAppend([event], to: person, after: Int32(version))],
                recordedAt: request.recordedAt,
                metadata: request.metadata)
            _ = try await log.record(request)
        }
        return try await reader.tail()
    }

    /// Appends to notes of one version, many in one append.
    func write(_ notes: Range<Int>) async throws {
        for start in stride(from: notes.lowerBound, to: notes.upperBound, by: 100) {
            let streams = (start..<min(start + 100, notes.upperBound)).map {
                StreamAppend([NoteEvent.written("Dear Ann")], to: StreamName("note-\($0)"), after: 0)
            }
            let model = AppendRequest.counting("", after: 0)
            _ = try await log.record(
                AppendRequest(id: UUID(), streams: streams, recordedAt: model.recordedAt, metadata: model.metadata))
        }
    }

    /// The number of recorded events with personal members.
    func words() async throws -> Int64 {
        try await client.query("SELECT count(*) FROM log.recorded_events WHERE personal::text <> '{}'").decode(Int64.self)[0]
    }
}

@Suite(.store) struct `Erasing a person` {
    @Test func `the streams of a person end in appends of at most a hundred, and nothing of them is left`() async throws {
        try await store.write(0..<250)
        var keyed = AppendRequest.counting("1", after: 0)
        keyed.setKey(RequestHash(of: "request".utf8))
        _ = try await store.log.record(keyed)
        keyed = .counting("2", after: 0)
        keyed.setKey(RequestHash(of: "request".utf8), owner: StreamName("person-8"))
        _ = try await store.log.record(keyed)
        let position = try await store.erasePerson()
        try await store.withErasures {
            let end = try await PersonErasures(store.composition()).end(of: TestStore.erased, at: position, within: .seconds(60))
            #expect(end != nil)
        }
        #expect(try await store.words() == 0)
        let appends = try await store.client.query(
            "SELECT count(*) FROM log.recorded_events WHERE type = 'NoteErased' GROUP BY xmin::text ORDER BY 1"
        ).decode(Int64.self)
        #expect(appends == [50, 100, 100])
        #expect(try await store.client.query("SELECT owner FROM log.commands").decode(String.self) == ["person-8"])
    }

    @Test func `the pages of a person with many streams leave room for another person`() async throws {
        try await store.write(0..<1_000)
        let many = try await store.erasePerson()
        let one = try await store.erasePerson(StreamName("person-8"))
        try await store.withErasures(find: { person, database in
            let notes = try await NoteEvent.ofPerson.find(person, database)
            return notes.filter { ($0.name.description == "note-999") == (person == 8) }
        }) {
            let erasures = PersonErasures(store.composition())
            for (person, position) in [(StreamName("person-8"), one), (TestStore.erased, many)] {
                let end = try await erasures.end(of: person, at: position, within: .seconds(60))
                #expect(end != nil)
            }
        }
        #expect(try await store.words() == 0)
        let order = try await store.client.query(
            "SELECT stream FROM log.recorded_events WHERE type = 'NoteErased' ORDER BY position"
        ).decode(String.self)
        #expect(Set(order).count == 1_000 && order.count == 1_000)
        #expect(try #require(order.firstIndex(of: "note-999")) < 500)
    }

    @Test func `an erasure that is killed again and again comes to its end`() async throws {
        try await store.write(0..<400)
        let position = try await store.erasePerson()
        let erasures = PersonErasures(store.composition())
        var timing = SubscriptionRunner.Timing.test
        timing.claimSeconds = 0.001
        timing.silenceSeconds = 0.2
        let quick = timing
        // Another node goes on each time. The later ones live longer.
        for milliseconds in stride(from: 10, through: 600, by: 10) {
            try await store.withErasures(find: NoteEvent.ofPerson.find, timing: quick) {
                try await Task.sleep(for: .milliseconds(milliseconds))
                // Or it loses its connections first.
                guard milliseconds.isMultiple(of: 20) else { return }
                try await store.database.withClient { other in
                    _ = try await other.query(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
                    )
                }
            }
            if (try? await erasures.end(of: TestStore.erased, at: position, within: .zero)) != nil { break }
        }
        try await eventually { (try? await erasures.end(of: TestStore.erased, at: position, within: .zero)) != nil }
        #expect(try await store.words() == 0)
        let erased = try await store.client.query("SELECT stream FROM log.recorded_events WHERE type = 'NoteErased'").decode(
            String.self)
        #expect(erased.count == 400)
        #expect(Set(erased).count == 400)
    }

    @Test func `what others write to a stream of the person meanwhile ends, too`() async throws {
        try await store.write(0..<3)
        let position = try await store.erasePerson()
        let isFirst = Mutex(true)
        try await store.withErasures(find: { person, database in
            let found = try await NoteEvent.ofPerson.find(person, database)
            let isNow = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            // One stream of the answer grows, and the answer lacks another: the next look finds it.
            if isNow {
                _ = try await store.log.record(.noting("1", after: 1, .written("Dear Bob")))
                try await store.write(3..<4)
            }
            return found
        }) {
            let end = try await PersonErasures(store.composition()).end(of: TestStore.erased, at: position, within: .seconds(60))
            #expect(end != nil)
        }
        #expect(try await store.words() == 0)
    }

    @Test func `an append of the erasure that meets a newer version is decided again`() async throws {
        try await store.write(0..<2)
        let position = try await store.erasePerson()
        try await store.database.withClient { other in
            let erasing = try await other.withTransaction { connection in
                try await connection.query("SELECT log.lock()")
                let erasing = Task {
                    try await store.withErasures {
                        let end = try await PersonErasures(store.composition()).end(
                            of: TestStore.erased, at: position, within: .seconds(60))
                        #expect(end != nil)
                    }
                }
                try await eventually("the erasure has read the versions, and waits for the lock") {
                    try await other.query(SQL.waitingAppends).count == 1
                }
                try await connection.query(
                    """
                    SELECT log.append(ARRAY[gen_random_uuid()], ARRAY['note-1'], ARRAY[2], ARRAY['NoteRead'], ARRAY[1::smallint],
                        ARRAY[now()], ARRAY['{}'], ARRAY['{"request_id":"x","actor":1,"trace_id":null}'], ARRAY[NULL],
                        '{}')
                    """)
                return erasing
            }
            try await erasing.value
        }
        #expect(try await store.words() == 0)
        let versions = try await store.client.query(
            "SELECT version FROM log.recorded_events WHERE type = 'NoteErased' ORDER BY stream"
        ).decode(Int32.self)
        #expect(versions == [2, 3])
    }

    @Test func `an erasure without a leader, or with a parked stream, is not finished`() async throws {
        try await store.write(0..<1)
        let position = try await store.erasePerson()
        let erasures = PersonErasures(store.composition())
        #expect(try await erasures.end(of: TestStore.erased, at: position, within: .milliseconds(50)) == nil)
        struct Unfindable: Error {}
        try await store.withErasures(find: { _, _ in throw Unfindable() }) { try await store.reaches(position, "erasures") }
        #expect(try await erasures.end(of: TestStore.erased, at: position, within: .milliseconds(50)) == nil)
        let subscriptions = Subscriptions(client: store.client)
        #expect(try await subscriptions.parkedStreams(of: "erasures").map(\.stream) == [TestStore.erased])
        try await store.withErasures {
            try await subscriptions.retry(of: "erasures")
            try await eventually { try await erasures.end(of: TestStore.erased, at: position, within: .zero) != nil }
        }
        #expect(try await store.words() == 0)
    }

    @Test func `an erasure with a parked stream of the person is not finished, however often somebody asks`() async throws {
        _ = try await store.log.record(.counting("1", after: 0))
        try await store.write(0..<3)
        let position = try await store.erasePerson()
        try await store.withErasures { try await store.reaches(position + 3, "erasures") }
        let erasures = PersonErasures(store.composition())
        for stream in ["note-1", "counter-1"] {
            #expect(try await erasures.end(of: TestStore.erased, at: position, within: .zero) != nil)
            // The position of the event that the subscription failed to handle.
            let parked: SQL = "SELECT max(position) FROM log.recorded_events WHERE stream = \(stream)"
            try await store.client.query(
                "INSERT INTO log.parked_streams (subscription, stream, version, position, reason) VALUES ('erasures', \(stream), 1, (\(parked)), '')"
            )
            for _ in 1...2 {
                let end = try await erasures.end(of: TestStore.erased, at: position, within: .zero)
                // What is left of others is nothing of the person.
                #expect((end == nil) == (stream == "note-1"))
            }
            try await store.client.query("DELETE FROM log.parked_streams")
        }
    }

    @Test func `the words of a stream end without the lock of the log`() async throws {
        try await store.write(0..<1)
        _ = try await store.log.record(.noting("0", after: 1, .erased))
        try await store.database.withClient { other in
            try await other.withTransaction { connection in
                try await connection.query("SELECT log.lock()")
                let ended = try await store.client.query("SELECT log.erase('{note-0}', 10)").decode(Int64.self)
                #expect(ended == [1])
            }
        }
        #expect(try await store.words() == 0)
    }
}
