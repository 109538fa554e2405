internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Sends requests over a URL session, with one way on all platforms: swift-corelibs-foundation has no `bytes(for:)`.
///
/// It follows no redirection, because a URL session would send the token to the new address. It keeps no cookies, and no cache that
/// other code could read.
final class Transport: Sendable {
    /// Maximum number of bytes of a complete response. A page of 1,000 events has about 250,000.
    private static let responseLimitBytes = 16 << 20
    /// Maximum number of unread bytes of a stream; the server disconnects slow readers at the same number.
    private static let streamLimitBytes = 1 << 20

    private let delegate = SessionDelegate()
    private let session: URLSession

    /// - Parameter connections: maximum number of connections to the server
    init(connections: Int) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpMaximumConnectionsPerHost = connections
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    /// A session keeps its delegate and its connections until it is invalidated.
    deinit { session.invalidateAndCancel() }

    /// Sends a request and waits for its whole response.
    /// - Parameter timeout: from now to the last byte of the response
    /// - Throws: `HumonError.connectionFailed`; `CancellationError`
    func response(to request: URLRequest, timeout: Duration) async throws -> Response {
        let exchange = start(
            request, bufferLimitBytes: Self.responseLimitBytes, overflow: .connectionFailed(.dataLengthExceedsMaximum))
        // `timeoutIntervalForResource` has no effect in swift-corelibs-foundation.
        let deadline = Task {
            try await Task.sleep(for: timeout)
            exchange.cancel(HumonError.connectionFailed(.timedOut))
        }
        defer { deadline.cancel() }
        let head = try await exchange.response()
        var body = Data()
        while let bytes = try await exchange.nextBytes() {
            guard body.count + bytes.count <= Self.responseLimitBytes else {
                exchange.cancel()
                throw HumonError.connectionFailed(.dataLengthExceedsMaximum)
            }
            body.append(bytes)
        }
        return Response(head: head, body: body)
    }

    /// Sends a request for an endless response. The caller cancels the request.
    func stream(_ request: URLRequest) -> Exchange {
        start(request, bufferLimitBytes: Self.streamLimitBytes, overflow: .connectionFailed(.networkConnectionLost))
    }

    private func start(_ request: URLRequest, bufferLimitBytes: Int, overflow: HumonError) -> Exchange {
        let task = session.dataTask(with: request)
        let exchange = Exchange(task, bufferLimitBytes: bufferLimitBytes, overflow: overflow)
        delegate.add(exchange, for: task.taskIdentifier)
        task.resume()
        return exchange
    }
}

/// Passes what a session reports to the exchange of the task.
///
/// `@unchecked`: the lock protects the exchanges.
private final class SessionDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let lock = NSLock()
    private var exchanges: [Int: Exchange] = [:]

    func add(_ exchange: Exchange, for identifier: Int) { lock.withLock { exchanges[identifier] = exchange } }

    private func exchange(of task: URLSessionTask) -> Exchange? { lock.withLock { exchanges[task.taskIdentifier] } }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse { exchange(of: dataTask)?.receive(ResponseHead(response)) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let exchange = lock.withLock { exchanges.removeValue(forKey: task.taskIdentifier) }
        // The error of Foundation names the address, so only its code goes on.
        let code = (error as? URLError)?.code ?? .unknown
        exchange?.finish(error == nil ? .success(()) : .failure(HumonError.connectionFailed(code)))
    }
}
