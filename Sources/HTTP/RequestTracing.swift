internal import HTTPTypes
internal import Hummingbird
internal import Telemetry
internal import Tracing

/// A span a request. Source: OpenTelemetry, *Semantic conventions for HTTP spans*, server; W3C *Trace Context*.
struct RequestTracing: Sendable {
    /// So much of what a client says of itself is told.
    private static let userAgentLimit = 256
    /// Others are `_OTHER`, so that nobody can make up names.
    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options, .connect, .trace]

    let tracer: any Tracer

    /// Goes on with the trace that the request belongs to, or begins one; from then on the exchange knows it.
    /// - Parameter route: its template; nil where there is none
    func begin(_ request: Request, _ exchange: inout Exchange, route: String?) -> any Span {
        var parent = ServiceContext.topLevel
        // Others would decide what is sampled, and in whose trace it stands.
        if exchange.arrival.isVouchedFor { tracer.extract(request.headers, into: &parent, using: HeaderExtractor()) }
        let method = name(of: request.method)
        let elapsed = UInt64(exchange.stopwatch.nanoseconds)
        let span = tracer.startSpan(
            route.map { "\(method) \($0)" } ?? method, context: parent, ofKind: .server,
            at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: DefaultTracerClock.now.nanosecondsSinceEpoch - elapsed))
        exchange.trace = RequestTrace(tracer: tracer, context: span.context)
        guard span.isRecording else { return span }
        let client = exchange.arrival.client(request.headers)
        span.updateAttributes { attributes in
            attributes["http.request.method"] = method
            attributes["http.route"] = route
            // The query is left out: it tells where people are. So may a path be that nobody has written down.
            attributes["url.path"] = route.map { _ in request.uri.path }
            attributes["url.scheme"] = client.scheme.rawValue
            attributes["client.address"] = client.address.map { "\($0)" }
            attributes["user_agent.original"] = request.headers.value(of: .userAgent).map {
                String($0.prefix(Self.userAgentLimit))
            }
        }
        return span
    }

    func end(_ span: any Span, _ answer: Answer) {
        guard span.isRecording else { return }
        let status = answer.status.code
        span.updateAttributes { attributes in
            attributes["http.response.status_code"] = status
            if status >= 500 { attributes["error.type"] = String(status) }
        }
        if status >= 500 { span.setStatus(SpanStatus(code: .error)) }
        span.end()
    }

    private func name(of method: HTTPRequest.Method) -> String { Self.methods.contains(method) ? method.rawValue : "_OTHER" }
}

/// The trace that a request belongs to.
struct RequestTrace: Sendable {
    let tracer: any Tracer
    let context: ServiceContext

    /// As the tracer would hand it on. Asked for where it is recorded or logged, and not for every read.
    var id: String? {
        var headers = HTTPFields()
        tracer.inject(context, into: &headers, using: HeaderInjector())
        return headers.value(of: .traceparent).flatMap { TraceContext(traceparent: $0) }?.traceIDText
    }
}

private struct HeaderExtractor: Extractor {
    func extract(key: String, from headers: HTTPFields) -> String? {
        // A name is read anew letter by letter; these two are asked for with every request.
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
