import EventStore
import Foundation
import Postgres
import Synchronization
import TestDatabase
import TestServer

/// One run of a schedule: two servers behind a cutting proxy on one PostgreSQL, with clients, subscriptions and faults. It may
/// move to a restored dump half-way, and ends with the checks.
final class FaultInjectionRun: Sendable {
    private let schedule: FaultInjectionSchedule
    private let sabotage: Sabotage
    private let isMoving: Bool
    private let directory: URL
    private let standby: TestPostgres?
    private let fleet: Fleet
    private let proxy: CuttingProxy
    private let subscriptions: SubscriptionPair
    private let subscribers: [ChangeFollower]
    private let pace: Pace
    private let start = ContinuousClock.now
    private let knownEvents = KnownEvents()
    private let report: Mutex<FaultInjectionReport>

    /// - Parameters:
    ///   - schedule: with a fail-over, PostgreSQL has a streaming standby
    ///   - isMoving: whether the database is dumped and restored elsewhere after half of the faults
    static func run(
        _ schedule: FaultInjectionSchedule, isMoving: Bool, _ sabotage: Sabotage = Sabotage()
    ) async throws -> FaultInjectionReport {
        try await HumonProcess.withDirectory { directory in
            let start = ContinuousClock.now
            let cluster = try await TestPostgres.primary(
                in: directory.appending(path: "first").path, settings: sabotage.postgresSettings)
            let standby =
                schedule.failOver != nil
                ? try await TestPostgres(standbyOf: cluster, in: directory.appending(path: "standby").path) : nil
            if schedule.hasSynchronousStandby { try await cluster.requireStandby() }
            let current = Mutex(cluster)
            var run: FaultInjectionRun?
            var thrown: (any Error)?
            do {
                let made = try await FaultInjectionRun(schedule, isMoving, sabotage, directory, cluster, standby)
                run = made
                try await made.run(on: current)
            } catch {
                thrown = error
            }
            await run?.fleet.close()
            // The standby may have become the current one.
            current.withLock { $0 }.remove()
            standby?.remove()
            cluster.remove()
            var report = run?.report.withLock { $0 } ?? FaultInjectionReport(schedule: schedule)
            if let violation = thrown as? Violation { report.violations.append(violation) } else if let thrown { throw thrown }
            report.seconds = Double((ContinuousClock.now - start).components.seconds)
            return report
        }
    }

    private init(
        _ schedule: FaultInjectionSchedule, _ isMoving: Bool, _ sabotage: Sabotage, _ directory: URL, _ cluster: TestPostgres,
        _ standby: TestPostgres?
    ) async throws {
        self.schedule = schedule
        self.isMoving = isMoving
        self.sabotage = sabotage
        self.directory = directory
        self.standby = standby
        RequestBurst.raiseDescriptorLimit()
        let socket = directory.appending(path: "proxy").path
        proxy = try await CuttingProxy(directory: socket, upstream: cluster.socketDirectory)
        let url = "host='\(socket)' user=humon dbname=\(TestPostgres.humon)"
        fleet = try Fleet(directory: directory, databaseURL: url)
        subscriptions = SubscriptionPair(SeenSubscription(seed: schedule.seed, sabotage: sabotage.subscription), url: url)
        subscribers = [0, 1].map { [fleet] in ChangeFollower(fleet: fleet, first: $0, sabotage.follower) }
        pace = Pace(deadline: .now + .seconds(120 + 20 * schedule.faults.count))
        report = Mutex(FaultInjectionReport(schedule: schedule))
    }

    private func run(on current: borrowing Mutex<TestPostgres>) async throws {
        let cluster = current.withLock { $0 }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.proxy.run() }
            defer { group.cancelAll() }
            try await fleet.start()
            try await prepare(cluster)
            await subscriptions.start()
            for follower in subscribers { group.addTask { await follower.run() } }
            let result: Result<Void, any Error>
            do { result = .success(try await injectFaults(current)) } catch { result = .failure(error) }
            pace.end()
            await subscriptions.stop()
            try result.get()
        }
    }

    private func prepare(_ cluster: TestPostgres) async throws {
        try await cluster.withClient { client in
            try await client.withConnection { try await $0.execute(script: SeenSubscription.table) }
            try await client.query("CREATE DATABASE \(identifier: FaultInjector.otherDatabase)")
            try await self.sabotage.breakDatabase?(client)
        }
    }

    private func injectFaults(_ current: borrowing Mutex<TestPostgres>) async throws {
        let end = schedule.faults.count
        let half = isMoving ? end / 2 : schedule.failOver.map { $0 + 1 } ?? end
        try await phase(0..<half, current.withLock { $0 })
        if isMoving {
            let (from, to) = (current.withLock { $0 }, directory.appending(path: "second").path)
            let restored = try await move(from, to: to)
            current.withLock { $0 = restored }
            try await phase(half..<end, restored)
        } else if let standby {
            current.withLock { $0 = standby }
            try await phase(half..<end, standby)
        }
        try await check(current.withLock { $0 })
    }

    /// Runs all clients, and the faults one after the other, each when half of its commands are finished.
    private func phase(_ faults: Range<Int>, _ cluster: TestPostgres) async throws {
        let injector = FaultInjector(
            seed: schedule.seed, cluster: cluster, standby: standby, proxy: proxy, fleet: fleet, subscriptions: subscriptions,
            pace: pace)
        let perFault = schedule.commandsPerFault
        try await withThrowingTaskGroup(of: ClientsRecord.self) { group in
            for number in 0..<FaultInjectionSchedule.clients {
                let client = FaultInjectionClient(
                    number: number, seed: schedule.seed, fleet: fleet, pace: pace, knownEvents: knownEvents,
                    sabotage: sabotage.client)
                group.addTask { await client.run(faults.lowerBound * perFault..<faults.upperBound * perFault) }
            }
            let result: Result<Void, any Error>
            do {
                for fault in faults { try await inject(fault, injector) }
                result = .success(())
            } catch {
                pace.end()
                result = .failure(error)
            }
            // The clients' records are worth more than the reason why the run ended.
            for try await record in group { report.withLock { $0.clients.add(record) } }
            try result.get()
        }
    }

    private func inject(_ number: Int, _ injector: FaultInjector) async throws {
        let before = number * schedule.commandsPerFault * FaultInjectionSchedule.clients
        let all = schedule.commandsPerFault * FaultInjectionSchedule.clients
        pace.allow((number + 1) * schedule.commandsPerFault)
        let fault = schedule.faults[number]
        try await wait(for: "the commands before fault \(number), \(fault)") {
            pace.finished >= before + all / 2 || pace.isOver
        }
        print(
            "faults: \(start.duration(to: .now).components.seconds) s, fault \(number + 1) of \(schedule.faults.count): \(fault)"
        )
        fflush(nil)
        guard !pace.isOver else { throw Violation(check: .recovery, sentence: "the run did not end in time") }
        let sent = try await injector.inject(fault, number: number, end: before + all)
        report.withLock { report in
            report.injected.append(fault)
            report.clients.commands += sent
        }
        await compareIndexes()
        try await wait(for: "the commands after fault \(number), \(fault)") { pace.finished >= before + all || pace.isOver }
    }

    /// - Parameter tail: the tail of a log that does not grow
    private func compareIndexes(at tail: Int64? = nil) async {
        let seconds = sabotage.patienceSeconds
        await withTaskGroup(of: [Violation].self) { group in
            for node in fleet.ports.indices {
                let comparison = IndexComparison(fleet: fleet, node: node, patienceSeconds: seconds)
                group.addTask { await comparison.violations(at: tail) }
            }
            for await found in group {
                report.withLock { report in
                    report.comparisons += 1
                    report.violations += found
                }
            }
        }
    }

    /// - Parameter tail: the tail of a log that does not grow
    private func compareFollowers(at tail: Int64) async {
        guard sabotage.hasChanges else { return }
        for follower in subscribers {
            let violations = await follower.violations(at: tail, patienceSeconds: sabotage.patienceSeconds)
            let counts = follower.counts
            report.withLock { report in
                report.violations += violations
                report.changes += counts.changes
                report.resets += counts.resets
            }
        }
    }

    private func move(_ cluster: TestPostgres, to directory: String) async throws -> TestPostgres {
        let restored = try await RestoredDump.make(of: cluster, in: directory, working: self.directory)
        report.withLock { $0.violations += restored.violations }
        proxy.lead(to: restored.cluster.socketDirectory)
        try await cluster.stop()
        try await fleet.awaitRecovery()
        return restored.cluster
    }

    private func check(_ cluster: TestPostgres) async throws {
        try await fleet.awaitRecovery()
        try await fleet.awaitIdle()
        let (tail, log, handled, late) = try await cluster.withClient { client in
            let tail = try await LogReader(client: client).tail()
            let late = await self.waitForSubscription(tail, client)
            return (tail, try await LogRow.all(client), try await SeenSubscription.seen(client), late)
        }
        await compareIndexes(at: tail)
        // Before the rebuild, after which the streams begin anew.
        await compareFollowers(at: tail)
        var models: [Violation] = []
        for arguments in [["verify", "--all", "--limit", "0"], ["rebuild", "--all"]] {
            let result = try await HumonProcess.run(
                ["projections"] + arguments, in: directory,
                environment: ["DATABASE_URL": cluster.url(database: TestPostgres.humon)])
            guard result.status != 0 else { continue }
            let sentence = "humon projections \(arguments[0]) ended with \(result.status): \(result.output)\(result.error)"
            models.append(Violation(check: .readModels, sentence: sentence))
        }
        // The rebuild has replaced the tables that the index was loaded from.
        if models.isEmpty { await compareIndexes(at: tail) }
        report.withLock { report in
            report.log = log
            report.handled = handled
            report.violations += report.clients.complaints + late + models
            let known = report.clients
            let checker = Checker(clients: known.commands, readings: known.readings, log: log, handled: handled)
            report.violations += checker.violations()
        }
    }

    private func waitForSubscription(_ tail: Int64, _ client: PostgresClient) async -> [Violation] {
        do {
            try await wait(for: "the subscription to reach position \(tail)", withinSeconds: sabotage.patienceSeconds) {
                try await Subscriptions(client: client).position(of: SeenSubscription.name) ?? 0 >= tail
            }
            return []
        } catch {
            return [Violation(check: .subscription, sentence: "\(error)")]
        }
    }
}
