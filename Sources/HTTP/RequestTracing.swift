internal import HTTPTypes
internal import Hummingbird
internal import Tracing

/// A span a request. Source: OpenTelemetry, *Semantic conventions for HTTP spans*, server; W3C *Trace Context*.
struct RequestTracing: Sendable {
    /// So much of what a client says of itself is told.
    private static let userAgentLimit = 256
    /// Others are `_OTHER`, so that nobody can make up names.
    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options, .connect, .trace]

    let tracer: any Tracer

    /// Goes on with the trace that the request belongs to, or begins one; from then on the context knows it.
    func begin(_ request: Request, _ context: inout APIContext) -> any Span {
        var parent = ServiceContext.topLevel
        // Others would decide what is sampled, and in whose trace it stands.
        if context.client.isVouchedFor { tracer.extract(request.headers, into: &parent, using: HeaderExtractor()) }
        let span = tracer.startSpan(name(of: request.method), context: parent, ofKind: .server)
        context.trace = RequestTrace(tracer: tracer, context: span.context)
        guard span.isRecording else { return span }
        let client = context.client
        span.updateAttributes { attributes in
            attributes["http.request.method"] = name(of: request.method)
            // The query is left out: it tells where people are.
            attributes["url.path"] = request.uri.path
            attributes["url.scheme"] = client.scheme.rawValue
            attributes["client.address"] = client.address.map { "\($0)" }
            attributes["user_agent.original"] = request.headers[.userAgent].map { String($0.prefix(Self.userAgentLimit)) }
        }
        return span
    }

    /// Calls the body with the span as the current one. One that throws ends it.
    func trace(_ span: any Span, _ body: () async throws -> Response) async throws -> Response {
        do { return try await ServiceContext.$current.withValue(span.context) { try await body() } } catch {
            span.recordError(error)
            span.setStatus(SpanStatus(code: .error))
            span.end()
            throw error
        }
    }

    /// - Parameter route: its template; nil where there was none
    func end(_ span: any Span, route: String?, _ response: Response) {
        guard span.isRecording else { return }
        if let route, let method = span.attributes.get("http.request.method"), case .string(let method) = method {
            span.operationName = "\(method) \(route)"
        }
        span.updateAttributes { attributes in
            attributes["http.route"] = route
            attributes["http.response.status_code"] = response.status.code
            if response.status.code >= 500 { attributes["error.type"] = String(response.status.code) }
        }
        if response.status.code >= 500 { span.setStatus(SpanStatus(code: .error)) }
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
        return headers[.traceparent].flatMap(traceID(ofTraceparent:))
    }
}

private struct HeaderExtractor: Extractor {
    func extract(key: String, from headers: HTTPFields) -> String? {
        // A name is read anew letter by letter; these two are asked for with every request.
        switch key {
        case "traceparent": headers[.traceparent]
        case "tracestate": headers[.tracestate]
        case _: HTTPField.Name(key).flatMap { headers[$0] }
        }
    }
}

private struct HeaderInjector: Injector {
    func inject(_ value: String, forKey key: String, into headers: inout HTTPFields) {
        if let name = HTTPField.Name(key) { headers[name] = value }
    }
}
