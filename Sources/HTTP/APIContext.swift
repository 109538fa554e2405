public import Hummingbird
internal import NIOCore
internal import Users

/// What a request carries with it on its way through the routes.
public struct APIContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    /// The name of a request that nobody who is believed has given one.
    let ownRequestID = RequestID()
    let route = RouteTaken()
    /// That the server has begun, or gone on with; nil where nobody traces.
    var trace: RequestTrace?
    let peer: Peer
    /// Who is believed to have sent the request.
    public var client = Client.unknown

    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        peer = Peer(source.channel.remoteAddress)
    }

    /// Found by the router in the path; nil where the route has none.
    func parameter(_ name: String) -> String? { parameters.get(name) }
}

extension Request {
    /// What the proxy calls the request, if it is believed and that is usable, or the name given to it here.
    func origin(_ context: APIContext, key: IdempotencyKey? = nil) -> Origin {
        Origin(requestID: requestID(context), traceID: traceID(context), key: key)
    }

    /// The W3C trace id that came in, where nobody here traces.
    func traceID(_ context: APIContext) -> String? {
        context.trace?.id ?? headers[.traceparent].flatMap(HTTP.traceID(ofTraceparent:))
    }

    func requestID(_ context: APIContext) -> String {
        guard context.client.isVouchedFor, let sent = headers[.xRequestID], (1...128).contains(sent.utf8.count),
            sent.utf8.allSatisfy(\.isOfRequestID)
        else {
            return context.ownRequestID.description
        }
        return sent
    }
}

/// Source: W3C *Trace Context*, `traceparent`: version, trace id, parent id and flags, in hexadecimal; nil for anything else.
func traceID(ofTraceparent header: String) -> String? {
    let parts = header.split(separator: "-", omittingEmptySubsequences: false)
    let lengths = [2, 32, 16, 2]
    guard parts.count >= 4, parts[0] != "ff", parts[0] != "00" || parts.count == 4,
        zip(parts, lengths).allSatisfy({ part, length in part.utf8.count == length && part.utf8.allSatisfy(\.isLowerHexadecimal) }
        ),
        parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
    else { return nil }
    return String(parts[1])
}

extension UInt8 {
    fileprivate var isLowerHexadecimal: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
    }

    fileprivate var isOfRequestID: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
