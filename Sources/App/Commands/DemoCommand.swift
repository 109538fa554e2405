internal import ArgumentParser
internal import Encoding
internal import EventStore
internal import Events
internal import Foundation
internal import Logging
internal import Postgres

/// `humon demo`
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Fill the database with plausible events around the world's cities.",
        discussion: """
            The demo uses the same commands as the API, and a server may run meanwhile. Its events stay in the log for ever and cannot \
            be removed. It asks only if the log holds other recorded events.

            EXAMPLE: humon demo --events 100000 --seed 7
            """
    )

    @Option(help: "The number of events to create. Default: 1000.", transform: Parameter.number(1...10_000_000))
    var events: Int64 = 1_000

    @Option(help: "The seed of the random numbers; the same seed gives the same events.")
    var seed: UInt64 = 1

    @Flag(help: ArgumentHelp("Leave the texts of events out, as the benchmarks compare them.", visibility: .hidden))
    var bare = false

    @OptionGroup var consent: ConsentOptions
    @OptionGroup var options: CommandOptions

    func run() async throws {
        let settings = try options.database.settings()
        let logger = Logger.humon(settings.logLevel)
        let (count, seed, bare, consent) = (Int(events), seed, bare, consent)
        let example = try await Database.with(settings, .creating, logger: logger) { database in
            let foreignPosition = try await database.usingAsOwner(logger: logger) { client in
                try await client.withLongTransaction {
                    try await LogReader(client: $0).firstPosition(notCausedBy: Backend.demoContext.requestID)
                }
            }
            if let foreignPosition {
                try await consent.require(
                    """
                    The log of this database holds recorded events that do not come from the demo, the first at position \
                    \(foreignPosition). The demo's events will stay in it for ever: they cannot be removed.
                    """,
                    alternative: "Use another database by --database, DATABASE_URL or HUMON_DATA.")
            }
            try await Backend.prepare(database, logger: logger)
            let backend = Backend(database, connections: settings.databaseConnections, logger: logger)
            return try await backend.run(logger: logger) {
                let world = DemoWorld(seed: seed, start: Dependencies.system.now(), hasTexts: !bare)
                return try await fill(backend, world, events: count)
            }
        }
        let place = example.details.coordinates
        let command =
            "curl '\(settings.address(port: settings.port))/v1/events/nearests?lat=\(place.lat)&lon=\(place.lon)&radius=5'"
        let output = options.output
        guard output.format != .json else { return try output.write(["events": JSON(count), "command": .string(command)]) }
        for line in ["Created \(count) events. Try, while `humon serve` runs:", "", "  \(command)"] { try output.say(line) }
    }
}

/// Signs the hosts up, creates the events, and lets some users attend each.
private func fill(_ backend: Backend, _ world: DemoWorld, events count: Int) async throws -> DemoWorld.Gathering {
    var world = world
    let hosts = try await backend.signUp(world.hosts(forEvents: count))
    let progress = ProgressLines("events")
    var last = world.gathering()
    var created = 0
    while created < count {
        let gatherings = (0..<min(2_000, count - created)).map { _ in world.gathering() }
        try await concurrently(gatherings.count) { index in
            try await backend.host(gatherings[index], by: hosts)
        }
        created += gatherings.count
        last = gatherings.last ?? last
        progress.show(Int64(created), of: Int64(count))
    }
    return last
}

/// Runs the work for each index below `count`.
/// - Parameter limit: the maximum number of concurrent runs
/// - Throws: the first error of the work
func concurrently(_ count: Int, atOnce limit: Int = 256, _ work: @escaping @Sendable (Int) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<count {
            if index >= limit { try await group.next() }
            group.addTask { try await work(index) }
        }
        try await group.waitForAll()
    }
}
