public import Hummingbird
internal import NIOCore
internal import Users

/// What a request carries with it on its way through the routes.
public struct APIContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    /// The name of a request whose caller gave it none.
    let ownRequestID = RequestID()
    let route = RouteTaken()
    /// Of the trace that the server has made, or gone on with; nil where nobody traces.
    var traceID: String?
    private let channel: any Channel

    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// Of whoever opened the connection; nil for a Unix socket.
    var clientAddress: String? { channel.remoteAddress?.ipAddress }

    /// Found by the router in the path; nil where the route has none.
    func parameter(_ name: String) -> String? { parameters.get(name) }
}

extension Request {
    /// What the caller calls the request, if that is usable, or the name given to it here.
    func origin(_ context: APIContext, key: IdempotencyKey? = nil) -> Origin {
        Origin(requestID: requestID(context), traceID: traceID(context), key: key)
    }

    /// The W3C trace id that came in, where nobody here traces.
    func traceID(_ context: APIContext) -> String? {
        context.traceID ?? headers[.traceparent].flatMap(HTTP.traceID(ofTraceparent:))
    }

    func requestID(_ context: APIContext) -> String {
        guard let sent = headers[.xRequestID], (1...128).contains(sent.utf8.count), sent.utf8.allSatisfy(\.isOfRequestID) else {
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
