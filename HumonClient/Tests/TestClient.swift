import Foundation
import TestDatabase
import TestFixture
import TestServer
import Testing

@testable import HumonClient

extension Trait where Self == Fixture<TestClient> {
    /// A client that has signed up: ``client``.
    static var client: Self { Self { try await TestClient.with(environment: [:], $0) } }
    /// A client without a server: only answers of the relay arrive.
    static func clientAlone(retries: RetryPolicy = .standard, timeout: Duration = TestClient.patience) -> Self {
        Self { try await TestClient.withoutServer(retries: retries, timeout: timeout, $0) }
    }
}

var client: TestClient { Fixture.current }

/// A client of a live server, with a relay between the two.
struct TestClient: Sendable {
    /// The pauses before repetitions, which take no time here.
    final class Pauses: Sendable {
        private let list: MemoryList<Duration> = .init()

        var all: [Duration] { list.all }

        func take(_ pause: Duration) async throws {
            list.append(pause)
            // Attempts without a pause would slow a busy machine down.
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Longer than a busy machine needs for a response.
    static let patience = Duration.seconds(60)
    static let here = Coordinate(latitude: 37.76, longitude: -122.43)
    static let near = Region.circle(center: here, radiusKilometers: 5)

    let relay: Relay
    let pauses = Pauses()
    let tokens = MemoryTokenStore()
    let humon: HumonAPI

    init(_ relay: Relay, retries: RetryPolicy = .standard, timeout: Duration = patience) throws {
        self.relay = relay
        let server = try #require(URL(string: "http://127.0.0.1:\(relay.port)"))
        let configuration = HumonAPI.Configuration(
            server: server, appSecret: HumonProcess.secret, tokens: tokens, retries: retries, timeout: timeout)
        humon = HumonAPI(configuration, sleep: pauses.take)
    }

    /// A client without a server: only answers of the relay arrive.
    static func withoutServer(
        retries: RetryPolicy = .standard, timeout: Duration = patience, _ body: (TestClient) async throws -> Void
    ) async throws {
        let relay = try Relay(to: nil)
        defer { relay.stop() }
        try await body(TestClient(relay, retries: retries, timeout: timeout))
    }

    /// A client that has signed up.
    static func with(
        environment: [String: String] = [:], _ body: (TestClient) async throws -> Void
    ) async throws {
        try await HumonProcess.withServer(environment: environment) { _, port, _ in
            let relay = try Relay(to: port)
            defer { relay.stop() }
            let client = try TestClient(relay)
            try await client.humon.signUp()
            try await body(client)
        }
    }

    /// The requests that a body causes.
    func requests(_ body: () async throws -> Void) async throws -> [String] {
        let before = relay.requests.count
        try await body()
        return Array(relay.requests.dropFirst(before))
    }

    static func draft(_ name: String = "Chess", _ coordinate: Coordinate = here) -> EventDraft {
        EventDraft(name: name, coordinate: coordinate, startedAt: Date(timeIntervalSince1970: 1_915_000_000.125))
    }
}

/// `@unchecked`: the lock protects the elements.
final class MemoryList<Element: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var elements: [Element] = []

    var all: [Element] { lock.withLock { elements } }

    func append(_ element: Element) { lock.withLock { elements.append(element) } }
}

/// The value of a header field in a request.
func field(_ name: String, in request: String) -> String? {
    request.split(separator: "\r\n").dropFirst().first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
        .map { String($0.dropFirst(name.count + 2)) }
}
