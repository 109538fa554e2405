internal import AsyncHTTPClient
internal import DequeModule
internal import Encoding
public import Logging
internal import NIOCore
internal import NIOHTTP1
public import ServiceLifecycle
internal import Synchronization

/// Sends spans to a collector in batches. Requests never wait for it: spans that the collector does not accept in time are dropped
/// and counted.
public final class SpanExporter: Service {
    /// Maximum number of spans in the queue; a further span is dropped.
    public static let queueLimit = 4_096
    /// Maximum number of spans in one request to the collector.
    private static let batchLimit = 512
    private static let pauseSeconds = 1.0
    /// Maximum number of requests for one batch, so that a collector that restarts still gets it.
    private static let attempts = 3
    private static let timeout = TimeAmount.seconds(5)
    /// Timeout for each batch while the process stops.
    private static let stopTimeout = TimeAmount.seconds(1)

    public enum Outcome: Int, Sendable, CaseIterable {
        case exported
        case dropped
    }

    private let endpoint: String
    private let service: String
    private let logger: Logger
    private let queue = Mutex<Deque<EndedSpan>>([])
    private let outcomes = Counter(count: Outcome.allCases.count)

    /// - Parameters:
    ///   - endpoint: the URL of OTLP/HTTP, with its path
    ///   - service: the name under which the collector shows the spans
    public init(endpoint: String, service: String, logger: Logger) {
        self.endpoint = endpoint
        self.service = service
        self.logger = logger
    }

    /// Number of spans with an outcome so far.
    public func count(_ outcome: Outcome) -> Int { outcomes[outcome.rawValue] }

    /// Queues a span, or drops it if the queue is full. Never waits.
    public func add(_ span: EndedSpan) {
        let isTaken = queue.withLock { queue in
            guard queue.count < Self.queueLimit else { return false }
            queue.append(span)
            return true
        }
        if !isTaken { outcomes.add(at: Outcome.dropped.rawValue) }
    }

    /// Sends the queue every second until shutdown begins, then the remaining spans.
    /// - Throws: nothing; the protocol requires `throws`
    public func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            while (try? await Task.sleep(for: .seconds(Self.pauseSeconds))) != nil { await exportAll() }
        }
        // A separate task, because cancellation of this task must not stop the last batches.
        await Task { while await send(nextBatch(), attempts: 1, timeout: Self.stopTimeout) {} }.value
    }

    private func exportAll() async {
        while !Task.isCancelled {
            let batch = nextBatch()
            await send(batch, attempts: Self.attempts, timeout: Self.timeout)
            guard batch.count == Self.batchLimit else { return }
        }
    }

    private func nextBatch() -> [EndedSpan] {
        queue.withLock { queue in
            defer { queue.removeFirst(min(queue.count, Self.batchLimit)) }
            return Array(queue.prefix(Self.batchLimit))
        }
    }

    /// - Returns: whether the collector accepted at least one span
    @discardableResult
    private func send(_ batch: [EndedSpan], attempts: Int, timeout: TimeAmount) async -> Bool {
        guard !batch.isEmpty else { return false }
        var request = HTTPClientRequest(url: endpoint)
        request.method = .POST
        request.headers.add(name: "content-type", value: OTLP.contentType)
        request.body = .bytes(OTLP.request(batch, service: service).utf8)
        for attempt in 1...attempts {
            do {
                let response = try await HTTPClient.shared.execute(request, timeout: timeout)
                // The client reuses a connection only after the whole response is read.
                _ = try? await response.body.collect(upTo: 1 << 16)
                if (200..<300).contains(response.status.code) {
                    outcomes.add(batch.count, at: Outcome.exported.rawValue)
                    return true
                }
                logger.debug("the collector rejected spans", metadata: ["status": .stringConvertible(response.status.code)])
                // A client must not repeat a request after any other status. Source: OTLP, "Failures".
                guard [429, 502, 503, 504].contains(response.status.code) else { break }
            } catch {
                logger.debug("the collector cannot be reached", metadata: ["error": "\(error)"])
            }
            guard attempt < attempts, (try? await Task.sleep(for: .seconds(Double(attempt)))) != nil else { break }
        }
        outcomes.add(batch.count, at: Outcome.dropped.rawValue)
        return false
    }
}
