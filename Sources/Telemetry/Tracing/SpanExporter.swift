internal import AsyncHTTPClient
internal import DequeModule
internal import Encoding
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import ServiceLifecycle
internal import Synchronization
internal import Telemetry

/// Sends spans to a collector, in batches. Nobody waits for it: what a collector does not take in time is dropped, and counted.
final class SpanExporter: Service {
    /// So many may wait; a further one is dropped.
    static let queueLimit = 4_096
    /// So many go into one request.
    private static let batchLimit = 512
    private static let pauseSeconds = 1.0
    /// A collector that is being started anew gets what it missed.
    private static let attempts = 3
    private static let timeout = TimeAmount.seconds(5)
    /// So long each of the last batches of a process may take.
    private static let partingTimeout = TimeAmount.seconds(1)

    enum Outcome: Int, CaseIterable {
        case exported
        case dropped
    }

    private let endpoint: String
    private let logger: Logger
    private let queue = Mutex<Deque<EndedSpan>>([])
    private let outcomes = Counter(count: Outcome.allCases.count)

    /// - Parameter endpoint: of OTLP/HTTP, with its path
    init(endpoint: String, logger: Logger) {
        self.endpoint = endpoint
        self.logger = logger
    }

    func count(_ outcome: Outcome) -> Int { outcomes[outcome.rawValue] }

    func take(_ span: EndedSpan) {
        let isTaken = queue.withLock { queue in
            guard queue.count < Self.queueLimit else { return false }
            queue.append(span)
            return true
        }
        if !isTaken { outcomes.add(at: Outcome.dropped.rawValue) }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            while (try? await Task.sleep(for: .seconds(Self.pauseSeconds))) != nil { await exportAll() }
        }
        // In a task of its own, which is not cancelled with this one.
        await Task { while await send(nextBatch(), attempts: 1, timeout: Self.partingTimeout) {} }.value
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

    /// - Returns: whether the collector took some
    @discardableResult
    private func send(_ batch: [EndedSpan], attempts: Int, timeout: TimeAmount) async -> Bool {
        guard !batch.isEmpty else { return false }
        var request = HTTPClientRequest(url: endpoint)
        request.method = .POST
        request.headers.add(name: "content-type", value: OTLP.contentType)
        request.body = .bytes(OTLP.request(batch).utf8)
        for attempt in 1...attempts {
            do {
                let response = try await HTTPClient.shared.execute(request, timeout: timeout)
                // Otherwise the connection cannot be used again.
                _ = try? await response.body.collect(upTo: 1 << 16)
                if (200..<300).contains(response.status.code) {
                    outcomes.add(batch.count, at: Outcome.exported.rawValue)
                    return true
                }
                logger.debug("the collector did not take spans", metadata: ["status": "\(response.status.code)"])
                // Source: OTLP, "Failures": nothing else may be sent again.
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

extension SpanExporter {
    var metrics: [Metric] { Self.metrics(exported: count(.exported), dropped: count(.dropped)) }

    /// - Parameter exporter: nil where no spans are sent anywhere
    static func metrics(of exporter: SpanExporter?) -> [Metric] {
        exporter?.metrics ?? metrics(exported: 0, dropped: 0)
    }

    private static func metrics(exported: Int, dropped: Int) -> [Metric] {
        [
            .counter(
                "humon_trace_spans_total", "Spans that were to be sent to a collector, by what became of them.",
                [("exported", exported), ("dropped", dropped)].map { (["outcome": $0], Double($1)) })
        ]
    }
}
