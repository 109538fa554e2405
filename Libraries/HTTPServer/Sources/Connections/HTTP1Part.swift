internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

/// A checked part of the input of an HTTP/1.1 connection.
enum HTTP1Part {
    case head(HTTP1Request)
    case body(ByteBuffer)
    case end
    /// The input cannot be parsed any further. No part follows.
    case refused(HTTPError, HTTPRequest?)
}

/// Checks the parts that NIO's decoder reads, and closes the gate after the last part that has a meaning.
struct HTTP1PartReader {
    let gate: HTTP1InputGate
    let headerLimitBytes: Int
    /// Whether the arriving request is the last one.
    private var isLast = false

    init(_ gate: HTTP1InputGate, headerLimitBytes: Int) {
        self.gate = gate
        self.headerLimitBytes = headerLimitBytes
    }

    mutating func read(_ part: HTTPServerRequestPart) -> HTTP1Part {
        switch part {
        case .head(let head):
            do throws(HTTP1Request.Refused) {
                let request = try HTTP1Request(head)
                isLast = request.isLast
                return .head(request)
            } catch {
                gate.isClosed = true
                return .refused(error.error, error.request)
            }
        case .body(let bytes): return .body(bytes)
        case .end:
            if isLast { gate.isClosed = true }
            return .end
        }
    }

    func read(_ error: HTTPParserError) -> HTTP1Part {
        defer { gate.isClosed = true }
        switch error {
        case .headerOverflow: return .refused(.headersTooLarge(limitBytes: headerLimitBytes), nil)
        case .invalidMethod:
            if let head = gate.headWithUnknownMethod { return .refused(.notImplemented, head) }
            return .refused(.malformed, nil)
        case .invalidVersion: return .refused(.versionNotSupported, nil)
        default: return .refused(.malformed, nil)
        }
    }
}
