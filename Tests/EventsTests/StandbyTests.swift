import EventStore
import Postgres
import Synchronization
import TestDatabase
import Testing
import Users

@testable import Events

/// Each test has a primary and a streaming standby of its own.
@Suite struct `Reading from a standby` {
    /// Far longer than a busy machine needs, so that the standby is always waited for.
    private static let longPatienceSeconds = 60.0

    /// The changes that an index told, each load apart.
    private final class Told: EventChangeListener {
        private struct State {
            var reached: Int64 = 0
            var positions: [Int64] = []
            var isInOrder = true
        }

        private let state = Mutex(State())

        func indexLoaded(at position: Int64) { state.withLock { $0.reached = position } }

        func indexApplied(_ changes: [EventChange], through position: Int64) {
            state.withLock { state in
                for change in changes {
                    state.isInOrder = state.isInOrder && change.position == state.reached + 1
                    state.reached = change.position
                    state.positions.append(change.position)
                }
            }
        }

        func indexClosed() {}

        /// The positions of the changes since the first load, in order and without gap or repetition; `nil` if that is not so.
        var positions: [Int64]? { state.withLock { $0.isInOrder ? $0.positions : nil } }
    }

    private static func with(
        settings: [String: String] = [:], _ body: @escaping @Sendable (TestDatabase, TestPostgres) async throws -> Void
    ) async throws {
        try await TestDatabase.withStandby(settings: settings) { database, standby in
            try await database.withClient(role: "humon_app", connections: 4) { client in
                try await ReadModels(projections: [EventsProjection()], client: client, logger: .quiet).prepare()
            }
            try await body(database, standby)
        }
    }

    private static func untilEqual(_ node: TestNode<EventsModule>, at position: Int64) async throws {
        try await eventually("the index at position \(position)") { node.module.indexStatus.position >= position }
        #expect(try await node.module.verifyIndex().differences == [])
    }

    private static func untilInStep(_ node: TestNode<EventsModule>) async throws {
        try await eventually("a standby in step") { node.standby?.status.phase == .inStep }
    }

    @Test func `a node loads its index from the standby, and follows the log of other nodes there`() async throws {
        try await Self.with { database, standby in
            try await TestNode.with(database) { writer in
                for number in 0..<40 { try await writer.create(.at(number)) }
                let told = Told()
                try await TestNode.with(
                    database, standby: standby.database(), patienceSeconds: Self.longPatienceSeconds, listener: told
                ) { node in
                    #expect(node.standby?.status.loads == 1)
                    #expect(node.module.indexStatus.position == 40)
                    // The writes of both nodes alternate, so that each node needs the other node's writes from the log.
                    for number in 0..<20 {
                        let (id, position) = try await writer.create(.at(number))
                        #expect(try await node.module.view(atLeast: position).event(id)?.isFromIndex == true)
                        let updated = try await node.update(id, to: .concert)
                        #expect(try await node.module.view().position ?? 0 >= updated)
                    }
                    try await Self.untilEqual(node, at: 80)
                    let status = try #require(node.standby?.status)
                    #expect(status.pages > 0)
                    #expect(status.fallbacks == 0)
                    #expect(told.positions == Array(41...80))
                }
            }
        }
    }

    @Test func `while the standby stands still the primary is read, and no change is lost, repeated or out of order`()
        async throws
    {
        try await Self.with { database, standby in
            let told = Told()
            try await TestNode.with(database) { writer in
                try await TestNode.with(database, standby: standby.database(), listener: told) { node in
                    try await Self.untilInStep(node)
                    try await standby.pauseReplay()
                    for number in 0..<20 {
                        let (id, _) = try await writer.create(.at(number))
                        try await node.update(id, to: .concert)
                    }
                    try await Self.untilEqual(node, at: 40)
                    try await eventually("a standby behind") { node.standby?.status.phase == .behind }
                    #expect(node.module.indexStatus.isStale == false)
                    try await standby.resumeReplay()
                    try await Self.untilInStep(node)
                    let pages = node.standby?.status.pages ?? 0
                    // A busy machine may read some pages from the primary.
                    try await eventually("a page of the standby") {
                        try await writer.create()
                        return node.standby?.status.pages ?? 0 > pages
                    }
                    let tail = try await LogReader(client: node.client).tail()
                    try await Self.untilEqual(node, at: tail)
                    #expect(told.positions == Array(1...tail))
                }
            }
        }
    }

    @Test func `a node loads from a standby that is behind, and reads the rest of the log from the primary`() async throws {
        try await Self.with { database, standby in
            try await TestNode.with(database) { writer in
                for number in 0..<10 { try await writer.create(.at(number)) }
                let onStandby = standby.database()
                try await onStandby.withClient { client in
                    try await eventually("the writes on the standby") { try await LogReader(client: client).tail() == 10 }
                }
                try await standby.pauseReplay()
                for number in 10..<20 { try await writer.create(.at(number)) }
                let told = Told()
                try await TestNode.with(database, standby: onStandby, listener: told) { node in
                    try await Self.untilEqual(node, at: 20)
                    #expect(node.standby?.status.loads == 1)
                    #expect(told.positions == Array(11...20))
                }
            }
        }
    }

    @Test func `the node reads the primary while the standby is dead, and returns to it`() async throws {
        try await Self.with { database, standby in
            try await TestNode.with(database) { writer in
                let told = Told()
                try await TestNode.with(database, standby: standby.database(), listener: told) { node in
                    try await Self.untilInStep(node)
                    try await standby.stop()
                    for number in 0..<10 { try await writer.create(.at(number)) }
                    try await Self.untilEqual(node, at: 10)
                    try await eventually("a standby that is away") { node.standby?.status.phase == .away }
                    // A node that starts now loads from the primary.
                    try await TestNode.with(database, standby: standby.database()) { late in
                        #expect(late.standby?.status.loads == 0)
                        #expect(late.module.indexStatus.position == 10)
                    }
                    try await standby.start()
                    try await Self.untilInStep(node)
                    for number in 0..<10 { try await writer.create(.at(number)) }
                    try await Self.untilEqual(node, at: 20)
                    #expect(told.positions == Array(1...20))
                }
            }
        }
    }

    @Test func `a promoted standby is not read, even if other nodes write to it`() async throws {
        try await Self.with { database, standby in
            try await TestNode.with(database) { writer in
                try await writer.create()
                let told = Told()
                try await TestNode.with(database, standby: standby.database(), listener: told) { node in
                    try await Self.untilInStep(node)
                    try await standby.promote()
                    try await TestNode.with(standby.database()) { other in
                        for number in 0..<10 {
                            try await other.create(.at(100 + number))
                            try await writer.create(.at(number))
                        }
                    }
                    try await Self.untilEqual(node, at: 11)
                    // The node connects again, because its URL may lead to another standby now.
                    try await eventually("a promoted standby, and other connections") {
                        let statistics = node.standby?.client.statistics
                        return node.standby?.status.phase == .promoted && statistics?.opened ?? 0 >= 4
                    }
                    #expect(told.positions?.last == 11)
                    #expect(try await node.found(by: .everywhere) == writer.found(by: .everywhere))
                }
            }
        }
    }

    @Test func `a standby whose log the primary has lost is not read, and the index is loaded anew`() async throws {
        try await Self.with { database, standby in
            try await TestNode.with(database, standby: standby.database()) { node in
                for number in 0..<20 { try await node.create(.at(number)) }
                try await standby.database().withClient { client in
                    try await eventually("the writes on the standby") { try await LogReader(client: client).tail() == 20 }
                }
                try await standby.pauseReplay()
                try await database.loseEndOfLog(after: 15, script: "DELETE FROM events_v1.events WHERE id > 15;")
                try await TestNode.with(database, isFilled: false) { writer in
                    for number in 0..<5 { try await writer.create(.at(100 + number)) }
                }
                try await eventually("a diverged standby") { node.standby?.status.phase == .diverged }
                try await eventually("an index of the primary's log") {
                    guard node.module.indexStatus.phase == .inUse else { return false }
                    return try await node.module.verifyIndex().differences == []
                }
                try await standby.resumeReplay()
                try await Self.untilInStep(node)
                #expect(try await node.module.verifyIndex().differences == [])
            }
        }
    }

    /// PostgreSQL cancels a statement on a standby that keeps it from replaying the log.
    @Test func `a load that the standby cancels is repeated`() async throws {
        try await Self.with(settings: ["max_standby_streaming_delay": "0"]) { database, standby in
            try await TestNode.with(
                database, standby: standby.database(), patienceSeconds: Self.longPatienceSeconds
            ) { node in
                _ = try await database.withClient { try await $0.query("CREATE TABLE conflicts ()") }
                let attempts = Mutex(0)
                let isFromStandby = try await Standby.load(from: node.standby, or: node.client) { source in
                    let attempt = attempts.withLock { attempts in
                        attempts += 1
                        return attempts
                    }
                    guard attempt == 1 else { return source === node.standby?.client }
                    return try await source.withTransaction { connection in
                        try await connection.query("SELECT FROM conflicts")
                        _ = try await database.withClient { try await $0.query("DROP TABLE conflicts") }
                        try await connection.query("SELECT pg_sleep(600)")
                        return false
                    }
                }
                #expect(isFromStandby)
                #expect(attempts.withLock(\.self) >= 2)
            }
        }
    }
}
