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

extension HTTP1Connection {
    /// Checks a part that NIO's decoder has read, and closes the gate after the last part that has a meaning.
    func checked(_ part: HTTPServerRequestPart) -> HTTP1Part {
        switch part {
        case .head(let head):
            do throws(HTTP1Request.Refused) {
                let request = try HTTP1Request(head)
                isLastArriving = request.isLast
                return .head(request)
            } catch {
                gate.isClosed = true
                return .refused(error.error, error.request)
            }
        case .body(let bytes): return .body(bytes)
        case .end:
            if isLastArriving { gate.isClosed = true }
            return .end
        }
    }

    /// The same for an error of the decoder.
    func checked(_ error: HTTPParserError) -> HTTP1Part {
        defer { gate.isClosed = true }
        switch error {
        case .headerOverflow: return .refused(.headersTooLarge(limitBytes: server.configuration.limits.headerBytes), nil)
        case .invalidMethod:
            if let head = gate.headWithUnknownMethod { return .refused(.notImplemented, head) }
            return .refused(.malformed, nil)
        case .invalidVersion: return .refused(.versionNotSupported, nil)
        default: return .refused(.malformed, nil)
        }
    }
}
