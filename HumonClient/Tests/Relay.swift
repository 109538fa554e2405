import Foundation

/// A relay on loopback between a client and the live server, which does to each request what the test says. A connection has one
/// request.
///
/// `@unchecked`: the lock protects the variables.
final class Relay: @unchecked Sendable {
    enum Fate: Sendable {
        case pass
        /// The server gets the request, and the client loses its connection instead of the response.
        case loseResponse
        /// The client loses its connection before the server gets anything.
        case cut
        /// No response ever.
        case hang
        /// The bytes of a response.
        case answer(String)
    }

    struct Failed: Error {}

    let port: Int
    private let listener: Int32
    private let lock = NSLock()
    private var fates: [Fate] = []
    private var received: [String] = []
    private var closed: [String] = []
    private var upstream: Int?
    private var passing: [Int32] = []

    /// - Parameter upstream: the port of the server; `nil` for a server that is away
    init(to upstream: Int?) throws {
        self.upstream = upstream
        (listener, port) = try Self.listening()
        Thread { [self] in
            // `stop` shuts the listener down, which ends the loop.
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { break }
                Thread { [self] in serve(client) }.start()
            }
            close(listener)
        }.start()
    }

    /// Each text is a request, with its header fields and body.
    var requests: [String] { lock.withLock { received } }

    /// The requests whose connection the client closed before the server did. A client may also do so after a complete response.
    var closedByClient: [String] { lock.withLock { closed } }

    /// What happens to the next requests; later ones pass.
    func next(_ fates: Fate...) { lock.withLock { self.fates += fates } }

    /// Another server from the next connection on; `nil` for none.
    func move(to port: Int?) { lock.withLock { upstream = port } }

    /// Cuts all connections that pass bytes now.
    func cutAll() { lock.withLock { for descriptor in passing { shutdown(descriptor, Int32(SHUT_RDWR)) } } }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        cutAll()
    }

    // MARK: One connection

    private func serve(_ client: Int32) {
        defer { close(client) }
        guard let request = Self.request(client) else { return }
        let (fate, port) = lock.withLock {
            received.append(request)
            return (fates.isEmpty ? .pass : fates.removeFirst(), upstream)
        }
        switch fate {
        case .cut: return
        case .hang: waitForClose(client, request)
        case .answer(let text): Self.send(text, to: client)
        case .pass, .loseResponse:
            guard let server = port.flatMap(Self.connected) else { return }
            defer { close(server) }
            Self.send(request.replacing("Connection: keep-alive", with: "Connection: close"), to: server)
            if case .loseResponse = fate {
                var byte: UInt8 = 0
                _ = recv(server, &byte, 1, 0)
            } else {
                lock.withLock { passing += [client, server] }
                pass(request, from: server, to: client)
                lock.withLock { passing.removeAll { [client, server].contains($0) } }
            }
        }
    }

    private func waitForClose(_ client: Int32, _ request: String) {
        var byte: UInt8 = 0
        while recv(client, &byte, 1, 0) > 0 {}
        lock.withLock { closed.append(request) }
    }

    private func pass(_ request: String, from server: Int32, to client: Int32) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            var descriptors = [server, client].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&descriptors, 2, -1) > 0 else { return }
            if descriptors[0].revents != 0 {
                let count = recv(server, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                guard Glibc.send(client, buffer, count, Int32(MSG_NOSIGNAL)) == count else {
                    return lock.withLock { closed.append(request) }
                }
            }
            if descriptors[1].revents != 0, recv(client, &buffer, buffer.count, 0) <= 0 {
                return lock.withLock { closed.append(request) }
            }
        }
    }

    private static func request(_ client: Int32) -> String? {
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let head = text.firstRange(of: "\r\n\r\n") {
                let length = text.firstMatch(of: /(?i)\r\ncontent-length: (\d+)/).flatMap { Int($0.1) } ?? 0
                if text[head.upperBound...].utf8.count >= length { return text }
            }
            let count = recv(client, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }

    private static func send(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    private static func loopback(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func listening() throws -> (descriptor: Int32, port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failed() }
        var (address, length) = (loopback(0), socklen_t(MemoryLayout<sockaddr_in>.size))
        let status = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { address -> Int32 in
                guard let base = address.baseAddress, bind(descriptor, base, length) == 0, listen(descriptor, 64) == 0 else {
                    return -1
                }
                return getsockname(descriptor, base, &length)
            }
        }
        guard status == 0 else { throw Failed() }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    private static func connected(_ port: Int) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let status = withUnsafeBytes(of: loopback(port)) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) {
                connect(descriptor, $0.baseAddress, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if status == 0 { return descriptor }
        close(descriptor)
        return nil
    }
}

extension Relay.Fate {
    /// A response with problem details.
    static func problem(_ status: Int, _ code: String, fields: String = "") -> Relay.Fate {
        let body = #"{"type":"/docs","title":"T","status":\#(status),"code":"\#(code)","request_id":"r-1"}"#
        return response(status, type: "application/problem+json", fields: fields, body: body)
    }

    static func response(_ status: Int, type: String, fields: String = "", body: String) -> Relay.Fate {
        let head = "HTTP/1.1 \(status) X\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n"
        return .answer("\(head)\(fields)\r\n\(body)")
    }
}
