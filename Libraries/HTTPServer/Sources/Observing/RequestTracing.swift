internal import HTTPTypes
internal import Telemetry
public import Tracing

/// Makes a span for each request. Source: OpenTelemetry, *Semantic conventions for HTTP spans*, server; W3C *Trace Context*.
public struct RequestTracing: RequestObserver {
    /// Maximum number of characters of `User-Agent` in a span.
    private static let userAgentLimit = 256
    /// Other methods are `_OTHER`, so that clients cannot create span names.
    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options, .connect, .trace]

    private let tracer: any Tracer

    public init(_ tracer: any Tracer) { self.tracer = tracer }

    /// Continues the trace of a trusted proxy, or begins a new one.
    public func requestBegan(_ request: Request, _ context: inout RequestContext) {
        var parent = ServiceContext.topLevel
        // Other clients could decide which requests are sampled, and in which trace they appear.
        if context.connection.isTrustedProxy { tracer.extract(request.headers, into: &parent, using: HeaderExtractor()) }
        let method = name(of: request.method)
        let route = context.route?.template
        let elapsed = UInt64(context.stopwatch.nanoseconds)
        let span = tracer.startSpan(
            route.map { "\(method) \($0)" } ?? method, context: parent, ofKind: .server,
            at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: DefaultTracerClock.now.nanosecondsSinceEpoch - elapsed))
        context.trace = RequestTrace(tracer: tracer, span: span)
        guard span.isRecording else { return }
        let sender = context.sender(of: request)
        span.updateAttributes { attributes in
            attributes["http.request.method"] = method
            attributes["http.route"] = route
            // Without the query, which contains people's locations. A path without a route may contain anything.
            attributes["url.path"] = route.map { _ in String(request.path) }
            attributes["url.scheme"] = sender.scheme.rawValue
            attributes["client.address"] = sender.address.map { "\($0)" }
            attributes["user_agent.original"] = request.headers.value(of: .userAgent).map {
                String($0.prefix(Self.userAgentLimit))
            }
        }
    }

    public func requestEnded(_ request: Request, _ context: RequestContext, _ response: Response) {
        guard let span = context.trace?.span, span.isRecording else { return }
        let status = response.status.code
        span.updateAttributes { attributes in
            attributes["http.response.status_code"] = status
            if status >= 500 { attributes["error.type"] = String(status) }
        }
        if status >= 500 { span.setStatus(SpanStatus(code: .error)) }
        span.end()
    }

    private func name(of method: HTTPRequest.Method) -> String { Self.methods.contains(method) ? method.rawValue : "_OTHER" }
}

/// The span of a request.
public struct RequestTrace: Sendable {
    let tracer: any Tracer
    let span: any Span

    var context: ServiceContext { span.context }

    /// The trace id in the tracer's format. Computed on demand, because only recorded or logged requests need it.
    public var id: String? {
        var headers = HTTPFields()
        tracer.inject(context, into: &headers, using: HeaderInjector())
        return headers.value(of: .traceparent).flatMap { TraceContext(traceparent: $0) }?.traceIDText
    }
}

extension RequestContext {
    /// The trace that the request belongs to. If requests are not traced here: the W3C trace id of a trusted proxy. The server
    /// ignores the trace id of any other client.
    public func traceID(of request: Request) -> String? {
        if let trace { return trace.id }
        guard connection.isTrustedProxy, let sent = request.headers.value(of: .traceparent) else { return nil }
        return TraceContext(traceparent: sent)?.traceIDText
    }
}

private struct HeaderExtractor: Extractor {
    func extract(key: String, from headers: HTTPFields) -> String? {
        // The library validates a name letter by letter, so these two are made once.
        switch key {
        case "traceparent": headers.value(of: .traceparent)
        case "tracestate": headers.value(of: .tracestate)
        case _: HTTPField.Name(key).flatMap { headers.value(of: $0) }
        }
    }
}

private struct HeaderInjector: Injector {
    func inject(_ value: String, forKey key: String, into headers: inout HTTPFields) {
        if let name = HTTPField.Name(key) { headers[name] = value }
    }
}
