internal import Encoding
internal import Tracing

/// Spans in the format of a collector. Source: OpenTelemetry Protocol 1.x, OTLP/HTTP with JSON encoding.
enum OTLP {
    static let contentType = "application/json"

    /// - Parameter service: the resource attribute `service.name`
    static func request(_ spans: [EndedSpan], service: String) -> JSON {
        [
            "resourceSpans": [
                [
                    "resource": ["attributes": [attribute("service.name", ["stringValue": .string(service)])]],
                    "scopeSpans": [["scope": ["name": .string(service)], "spans": .array(spans.map(json))]],
                ]
            ]
        ]
    }

    private static func json(_ span: EndedSpan) -> JSON {
        var members: [(String, JSON)] = [
            ("traceId", .string(span.trace.traceIDText)), ("spanId", .string(span.trace.spanIDText)),
            ("name", .string(span.name)), ("kind", JSON(kind(span.kind))),
            ("startTimeUnixNano", .string(String(span.startNanoseconds))),
            ("endTimeUnixNano", .string(String(span.endNanoseconds ?? span.startNanoseconds))),
            ("attributes", .array(attributes(span.attributes))),
        ]
        if let parent = span.parent { members.append(("parentSpanId", .string(TraceContext.text(parent)))) }
        if let state = span.trace.state { members.append(("traceState", .string(state))) }
        if let status = span.status { members.append(("status", ["code": JSON(status.code == .ok ? 1 : 2)])) }
        return .object(JSONObject(members: members.map { .init(name: $0.0, value: $0.1) }))
    }

    private static func kind(_ kind: SpanKind) -> Int {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }

    private static func attributes(_ attributes: SpanAttributes) -> [JSON] {
        var values: [(name: String, value: JSON)] = []
        attributes.forEach { name, value in values.append((name, self.value(value))) }
        return values.sorted { $0.name < $1.name }.map { attribute($0.name, $0.value) }
    }

    private static func attribute(_ name: String, _ value: JSON) -> JSON { ["key": .string(name), "value": value] }

    /// The value as plain text, for people.
    static func text(_ attribute: SpanAttribute) -> String {
        guard case .object(let object) = value(attribute), let member = object.members.first else { return "" }
        if case .string(let text) = member.value { return text }
        return member.value.text
    }

    /// 64-bit numbers are strings, as in protobuf's JSON.
    private static func value(_ value: SpanAttribute) -> JSON {
        switch value {
        case .int32(let number): ["intValue": .string(String(number))]
        case .int64(let number): ["intValue": .string(String(number))]
        case .double(let number) where number.isFinite: ["doubleValue": JSON(number)]
        case .bool(let flag): ["boolValue": .bool(flag)]
        case .string(let text): ["stringValue": .string(text)]
        // `SpanAttribute` is not frozen, so that the compiler asks for a default. No attribute of this project is of another kind.
        default: ["stringValue": .string("\(value)")]
        }
    }
}
