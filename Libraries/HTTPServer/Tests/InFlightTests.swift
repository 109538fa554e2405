import HTTPServer
import HTTPTypes
import Synchronization
import TestHTTP
import Testing

@testable import HTTPServer

@Suite struct `Limiting requests in flight` {
    /// Suspends requests until it opens.
    private final class Barrier: Sendable {
        private let state = Mutex<(isOpen: Bool, waiters: [CheckedContinuation<Void, Never>])>((false, []))

        func wait() async {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiters.append(continuation) }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
            }
        }

        func open() {
            let waiters = state.withLock { state in
                state.isOpen = true
                return state.waiters
            }
            for waiter in waiters { waiter.resume() }
        }
    }

    @Test func `waiting requests fill their own limit and not that of computing requests`() async throws {
        let barrier = Barrier()
        let routes = [
            Route(.get, "/database") { _, _ in
                await barrier.wait()
                return Response(text: "late")
            },
            Route(.get, "/compute", limit: .computing) { _, _ in Response(text: "computed") },
            Route(.get, "/search", immediately: { _, _ in .needsLongTask }) { _, _ in Response(text: "found") },
            Route(.get, "/health", limit: .unlimited) { _, _ in Response(text: "ok") },
            Route.immediate(.get, "/list") { _, _ in Response(text: String(repeating: "list ", count: 60_000)) },
        ]
        let router = Router(routes: routes, middleware: [Compression()], logger: .silent)
        try await router.test(.live, Wire.configuration { $0.inFlight = InFlightRequests(waitingLimit: 2) }) { client in
            try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { waiting in
                for _ in 0..<20 { waiting.addTask { try await client.send(.get, "/database").status } }
                // The requests beyond the limit are refused immediately; two wait.
                for _ in 0..<18 { #expect(try await waiting.next() == .serviceUnavailable) }
                for path in ["/compute", "/search", "/health", "/list"] {
                    for coding in ["identity", "gzip", "zstd"] {
                        let response = try await client.send(.get, path, headers: [.acceptEncoding: coding])
                        #expect(response.status == .ok, "\(path)")
                    }
                }
                barrier.open()
                for _ in 0..<2 { #expect(try await waiting.next() == .ok) }
            }
        }
    }

    @Test func `requests in flight are counted and refused for each limit`() {
        let requests = InFlightRequests(waitingLimit: 1)
        #expect(requests.begin(.reading) && !requests.begin(.reading))
        #expect(requests.begin(.computing) && requests.begin(.unlimited) && requests.begin(.unlimited))
        #expect((requests.count, requests.refusals) == (4, 1))
        requests.end(.reading)
        #expect(requests.begin(.reading))
    }

    @Test func `reads, writes and checks of passwords each have slots of their own`() {
        let requests = InFlightRequests(waitingLimit: 2)
        for limit in [InFlightRequests.Limit.reading, .authenticating, .writing] {
            #expect(requests.begin(limit) && requests.begin(limit) && !requests.begin(limit), "\(limit)")
        }
        requests.end(.writing)
        #expect(!requests.begin(.reading) && !requests.begin(.authenticating) && requests.begin(.writing))
        #expect((requests.count, requests.refusals) == (6, 5))
    }
}
