import Foundation
import Synchronization
import TestDatabase
import TestServer

enum SilentWriters {
    static var scenarios: [FaultInjection.Scenario] {
        StalledPart.allCases.map { part in
            ("a server whose append arrives in part (\(part)) stops no other server for 5 seconds", { try await stall(at: part) })
        } + [("a server that is stopped under large batches stops no other server for 5 seconds", stopUnderLoad)]
    }

    /// Time in which another server must write again.
    private static let patience = Duration.seconds(5)

    private static func stall(at part: StalledPart) async throws {
        try await TwoWriters.run { writers in
            writers.proxy.arm(part)
            async let appended = writers.create(500)
            try await wait(for: "the proxy to stall") { writers.proxy.hasStalled }
            let waited = try await writers.writeElsewhere()
            try expect(waited < patience, "another server wrote within 5 s, but \(waited)")
            try await writers.check(await appended)
        }
    }

    @Sendable private static func stopUnderLoad() async throws {
        try await TwoWriters.run { writers in
            let isOver = Mutex(false)
            async let appended = writers.create { isOver.withLock { $0 } }
            var longest = Duration.zero
            for stop in 0..<25 {
                try await Task.sleep(for: .milliseconds(50 + stop * 37 % 100))
                writers.signal(SIGSTOP)
                longest = max(longest, try await writers.writeElsewhere())
                writers.signal(SIGCONT)
            }
            isOver.withLock { $0 = true }
            print("faults: with a stopped server another one wrote after \(longest) at most")
            try expect(longest < patience, "another server wrote within 5 s")
            try await writers.check(await appended)
        }
    }
}

/// Two servers on one database: the first one's connections lead through a proxy.
private struct TwoWriters: Sendable {
    /// Longer than any time limit of a server.
    private static let patience = Duration.seconds(60)
    private static let token = "silent-writer"

    let proxy: StallingProxy
    private let stalled: Fleet
    private let other: Fleet

    static func run(_ body: @Sendable (TwoWriters) async throws -> Void) async throws {
        try await HumonProcess.withDirectory { directory in
            let cluster = try await TestPostgres.primary(in: directory.appending(path: "cluster").path)
            var result: Result<Void, any Error> = .success(())
            do { try await run(on: cluster, directory, body) } catch { result = .failure(error) }
            cluster.remove()
            try result.get()
        }
    }

    private static func run(
        on cluster: TestPostgres, _ directory: URL, _ body: @Sendable (TwoWriters) async throws -> Void
    ) async throws {
        let socket = directory.appending(path: "proxy").path
        let proxy = try await StallingProxy(directory: socket, upstream: cluster.socketDirectory)
        let url = cluster.url(database: TestPostgres.humon).replacing(
            "host='\(cluster.socketDirectory)'", with: "host='\(socket)'")
        let writers = TwoWriters(
            proxy: proxy, stalled: try Fleet(directory: directory, databaseURL: url),
            other: try Fleet(directory: directory, databaseURL: cluster.url(database: TestPostgres.humon)))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await proxy.run() }
            defer { group.cancelAll() }
            let result: Result<Void, any Error>
            do {
                for fleet in [writers.stalled, writers.other] { try await fleet.start(0) }
                // Each server signs the user up, so that its connection is known as a writer's.
                for fleet in [writers.stalled, writers.other] { try await writers.signUp(at: fleet) }
                result = .success(try await body(writers))
            } catch {
                result = .failure(error)
            }
            for fleet in [writers.stalled, writers.other] { await fleet.close() }
            try result.get()
        }
    }

    private func signUp(at fleet: Fleet) async throws {
        let token = "\(Self.token) \(fleet.ports[0])"
        let answer = try await fleet.send(
            "POST", "/v1/users", to: 0, headers: [("tb-app-secret", Fleet.secret), ("tb-device-token", token)],
            patience: Self.patience)
        guard answer.status == 200 else { throw Violation(check: .responses, sentence: "a sign-up got \(answer.status)") }
    }

    func signal(_ signal: Int32) { stalled.signal(signal, 0) }

    /// Creates an event with a text of some length.
    /// - Returns: its path; `nil` without a response of success
    private func create(at fleet: Fleet) async -> String? {
        let body = #"{"name":"\#(String(repeating: "party ", count: 40))","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z"}"#
        let answer = try? await fleet.send(
            "POST", "/v1/events", to: 0, headers: [("tb-device-token", "\(Self.token) \(fleet.ports[0])")], body: body,
            patience: Self.patience)
        guard let answer, answer.status == 200, let id = answer.body.firstMatch(of: /"id":(\d+)/)?.1 else { return nil }
        return "/v1/events/\(id)"
    }

    /// Sends so many requests at once to the first server.
    /// - Returns: the paths of the acknowledged events
    func create(_ count: Int) async -> [String] {
        await withTaskGroup(of: String?.self) { group in
            for _ in 0..<count { group.addTask { await create(at: stalled) } }
            return await group.reduce(into: []) { paths, path in if let path { paths.append(path) } }
        }
    }

    /// Keeps the first server busy with many requests at once.
    func create(until isOver: @escaping @Sendable () -> Bool) async -> [String] {
        await withTaskGroup(of: [String].self) { group in
            for _ in 0..<500 {
                group.addTask {
                    var paths: [String] = []
                    while !isOver() { if let path = await create(at: stalled) { paths.append(path) } }
                    return paths
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// - Returns: the time until the other server has recorded an event
    func writeElsewhere() async throws -> Duration {
        let start = ContinuousClock.now
        guard await create(at: other) != nil else {
            throw Violation(check: .recovery, sentence: "the other server did not write within \(ContinuousClock.now - start)")
        }
        return ContinuousClock.now - start
    }

    /// No acknowledged event may be lost.
    func check(_ paths: [String]) async throws {
        for path in paths {
            let answer = try await other.send("GET", path, to: 0, patience: Self.patience)
            guard answer.status == 200 else {
                throw Violation(check: .responses, sentence: "\(path) was acknowledged and got \(answer.status)")
            }
        }
    }
}
