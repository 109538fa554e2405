internal import ArgumentParser
internal import EventStore
internal import Events
internal import Foundation
internal import Logging

/// `humon demo`
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Fill the database with plausible gatherings around the world's cities.",
        discussion: """
            Everything goes through the same commands as the API's. A server may run meanwhile. What the demo records stays in the \
            log for ever and cannot be removed. So on a log with other recorded events than the demo's it asks first; without a \
            terminal it refuses, with exit code 2.

            EXAMPLE: humon demo --events 100000 --seed 7
            """
    )

    @Option(help: "How many events to create.")
    var events = 1_000

    @Option(help: "The same seed makes the same gatherings.")
    var seed: UInt64 = 1

    @Flag(help: "Write into a log that holds other recorded events, too, without a question.")
    var yes = false

    @OptionGroup var options: OutputOptions

    func validate() throws {
        guard (1...10_000_000).contains(events) else { throw ValidationError("--events must be from 1 to 10000000.") }
    }

    func run() async throws {
        let settings = try await Settings.load()
        let logger = Logger.humon(settings.logLevel)
        let (count, seed, isAgreed) = (events, seed, yes)
        let example = try await Database.with(settings, .asVisitor, logger: logger) { database in
            if !isAgreed { try await DemoConsent.require(database, logger: logger) }
            try await Backend.prepare(database, logger: logger)
            let backend = Backend(database, connections: settings.databaseConnections, logger: logger)
            return try await backend.run(logger: logger) {
                try await fill(backend, DemoWorld(seed: seed, start: Dependencies.system.now()), events: count)
            }
        }
        let place = example.coordinates
        let command =
            "curl '\(settings.address(port: settings.port))/v1/events/nearests?lat=\(place.lat)&lon=\(place.lon)&radius=5'"
        let output = options.output
        guard !options.json else { return try output.write(["events": .count(count), "command": .text(command)]) }
        for line in ["Created \(count) events. Try, while `humon serve` runs:", "", "  \(command)"] { try output.say(line) }
    }
}

/// Signs the hosts up, creates the events and lets some people attend each.
private func fill(_ backend: Backend, _ world: DemoWorld, events count: Int) async throws -> DemoWorld.Gathering {
    var world = world
    let hosts = try await backend.signUp(world.hosts(forEvents: count))
    var bar = ProgressBar("events", total: Int64(count))
    var last = world.gathering()
    var created = 0
    while created < count {
        let gatherings = (0..<min(2_000, count - created)).map { _ in world.gathering() }
        try await concurrently(gatherings.count) { index in
            try await backend.host(gatherings[index], by: hosts)
        }
        created += gatherings.count
        last = gatherings.last ?? last
        bar.show(Int64(created))
    }
    return last
}

/// Runs so many pieces of work, a limited number of them at once.
func concurrently(_ count: Int, atOnce limit: Int = 256, _ work: @escaping @Sendable (Int) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<count {
            if index >= limit { try await group.next() }
            group.addTask { try await work(index) }
        }
        try await group.waitForAll()
    }
}
