internal import Hummingbird
internal import Telemetry
internal import Users

/// A request on its way to its answer: what is known of it besides its own words.
struct Exchange: Sendable {
    let stopwatch = Stopwatch()
    /// What the proxy calls the request, if it is believed and that is usable, or the name given to it here.
    let requestID: String
    let arrival: Arrival
    /// nil where there is none for it.
    let route: RouteTaken?
    /// That the server has begun, or gone on with; nil where nobody traces.
    var trace: RequestTrace?

    init(of request: Request, from arrival: Arrival, route: RouteTaken?) {
        self.arrival = arrival
        self.route = route
        let sent = arrival.isVouchedFor ? request.headers.value(of: .xRequestID) : nil
        requestID = sent.flatMap { $0.isRequestID ? $0 : nil } ?? RequestID.new()
    }
}

extension Request {
    func origin(_ exchange: Exchange, key: IdempotencyKey? = nil) -> Origin {
        Origin(requestID: exchange.requestID, traceID: traceID(exchange), key: key)
    }

    /// The W3C trace id: of the trace that this server takes part in, or without tracing the one that a trusted proxy sends. A client
    /// does not choose what the log keeps for ever.
    func traceID(_ exchange: Exchange) -> String? {
        if let trace = exchange.trace { return trace.id }
        guard exchange.arrival.isVouchedFor, let sent = headers.value(of: .traceparent) else { return nil }
        return TraceContext(traceparent: sent)?.traceIDText
    }
}

extension String {
    fileprivate var isRequestID: Bool { (1...128).contains(utf8.count) && utf8.allSatisfy(\.isOfRequestID) }
}

extension UInt8 {
    fileprivate var isOfRequestID: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
