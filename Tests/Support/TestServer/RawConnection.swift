internal import Foundation

/// A loopback connection that sends and receives bytes that no HTTP client would.
public final class RawConnection: Sendable {
    public struct Failed: Error { public var reason: String }

    /// The bytes that the server has sent, and whether the server closed its side.
    public struct Received: Sendable {
        public var text: String
        public var isEnded: Bool
    }

    private let descriptor: Int32

    /// Connects to a port, or else to a Unix socket.
    public init(port: Int) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        descriptor = try withUnsafeBytes(of: address) { try Self.connected(AF_INET, $0) }
    }

    public init(path: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        descriptor = try withUnsafeBytes(of: address) { try Self.connected(AF_UNIX, $0) }
    }

    deinit { Foundation.close(descriptor) }

    private static func connected(_ family: Int32, _ address: UnsafeRawBufferPointer) throws -> Int32 {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failed(reason: String(cString: strerror(errno))) }
        let status = address.withMemoryRebound(to: sockaddr.self) {
            connect(descriptor, $0.baseAddress, socklen_t(address.count))
        }
        guard status == 0 else {
            let reason = String(cString: strerror(errno))
            Foundation.close(descriptor)
            throw Failed(reason: reason)
        }
        return descriptor
    }

    public func send(_ text: String) throws { try send(Array(text.utf8)) }

    public func send(_ bytes: [UInt8]) throws {
        var bytes = bytes[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count >= 0 else { throw Failed(reason: String(cString: strerror(errno))) }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Closes the sending side; the connection still receives.
    public func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Sends a text repeatedly until the server has taken no byte for a while.
    /// - Returns: the number of bytes that the server took
    public func sendUntilNoMoreIsTaken(_ text: String, atMost limit: Int, patience: Duration = .seconds(1)) async throws -> Int {
        let bytes = Array(text.utf8)
        var (taken, end) = (0, ContinuousClock.now + patience)
        while taken < limit {
            let rest = bytes[(taken % bytes.count)...]
            let sent = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if sent > 0 {
                taken += sent
                end = .now + patience
            } else if sent < 0, errno != EAGAIN {
                throw Failed(reason: String(cString: strerror(errno)))
            } else if .now > end {
                break
            } else {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        return taken
    }

    /// The next bytes, at most 4 KiB; empty if none have arrived, `nil` at the end.
    public func receiveNow() -> String? {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        if count < 0 { return errno == EAGAIN ? "" : nil }
        return count == 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// Ports that were free a moment ago. All sockets are open at once, so that the ports differ.
    public static func freePorts(_ count: Int) throws -> [Int] {
        let sockets = (0..<count).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0) }
        defer { for socket in sockets { Foundation.close(socket) } }
        return try sockets.map { socket in
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = withUnsafeMutableBytes(of: &address) { address in
                address.withMemoryRebound(to: sockaddr.self) { address in
                    bind(socket, address.baseAddress, length) == 0 ? getsockname(socket, address.baseAddress, &length) : -1
                }
            }
            guard status == 0 else { throw Failed(reason: String(cString: strerror(errno))) }
            return Int(UInt16(bigEndian: address.sin_port))
        }
    }

    /// Waits until the received bytes are enough, the server closes its side, or the time is up.
    public func receive(
        within limit: Duration = .seconds(180), until isEnough: @Sendable (String) -> Bool = { _ in false }
    ) async throws -> Received {
        try await receive(within: limit, untilBytes: { isEnough(String(decoding: $0, as: UTF8.self)) })
    }

    public func receive(bytes count: Int, within limit: Duration) async throws -> Received {
        try await receive(within: limit, untilBytes: { $0.count >= count })
    }

    private func receive(within limit: Duration, untilBytes isEnough: ([UInt8]) -> Bool) async throws -> Received {
        let end = ContinuousClock.now + limit
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            let text = { String(decoding: bytes, as: UTF8.self) }
            if count > 0 {
                bytes += buffer[..<count]
                if isEnough(bytes) { return Received(text: text(), isEnded: false) }
            } else if count == 0 || errno != EAGAIN {
                return Received(text: text(), isEnded: true)
            } else if ContinuousClock.now > end {
                return Received(text: text(), isEnded: false)
            } else {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }
}
