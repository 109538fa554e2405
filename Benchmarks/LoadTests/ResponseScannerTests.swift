import NIOCore
import Testing

@testable import LoadGenerator

@Suite struct `The scanner of responses` {
    static let response = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nCONTENT-length: 5\r\n\r\nhello"

    @Test(arguments: 1...response.utf8.count)
    func `a response ends with the last byte of its body, however its bytes arrive`(pieceLength: Int) throws {
        var scanner = ResponseScanner()
        // Twice, because a connection carries many responses.
        for _ in 0..<2 {
            var bytes = ByteBuffer(string: Self.response)
            while bytes.readableBytes > 0 {
                guard let piece = bytes.readSlice(length: min(pieceLength, bytes.readableBytes)) else { break }
                #expect(try scanner.read(piece) == (bytes.readableBytes == 0 ? 200 : nil))
            }
        }
    }

    @Test(arguments: [204, 304])
    func `a status without a body ends the response with its head`(status: Int) throws {
        var scanner = ResponseScanner()
        #expect(try scanner.read(ByteBuffer(string: "HTTP/1.1 \(status) No\r\ncontent-length: 5\r\n\r\n")) == status)
    }

    @Test(arguments: [
        ("HTTP/1.0 200 OK\r\n\r\n", ResponseScanner.Failure.notHTTP),
        ("HTTP/1.1 2x0 OK\r\n\r\n", .notHTTP),
        ("HTTP/1.1 200 OK\r\ncontent-length: five\r\n\r\n", .notHTTP),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", .unsupportedFraming),
        ("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nab", .unsupportedFraming),
        ("HTTP/1.1 200 OK\r\na: " + String(repeating: "b", count: ResponseScanner.headLimitBytes), .headTooLarge),
    ])
    func `another framing is refused`(response: String, failure: ResponseScanner.Failure) {
        var scanner = ResponseScanner()
        #expect(throws: failure) { try scanner.read(ByteBuffer(string: response)) }
    }
}
