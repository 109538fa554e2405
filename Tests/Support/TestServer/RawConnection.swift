internal import Foundation
internal import TestDatabase

/// A loopback connection that sends and receives bytes that no HTTP client would.
public final class RawConnection: Sendable {
    public struct Failed: Error { public var reason: String }

    /// The bytes that the server has sent, and whether the server closed its side.
    public struct Received: Sendable {
        public var text: String
        public var isEnded: Bool
    }

    private let descriptor: Int32

    public init(port: Int) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        descriptor = try withUnsafeBytes(of: address) { try Self.connected($0) }
    }

    deinit { Foundation.close(descriptor) }

    private static func connected(_ address: UnsafeRawBufferPointer) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
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

    /// Ports that were free a moment ago, for servers that stop and start again. Not of the range from which the kernel takes the ports of
    /// clients and of servers without a port, so that none of those takes one meanwhile.
    public static func freePorts(_ count: Int) throws -> [Int] {
        var free: [Int] = []
        for port in (10_000..<32_000).shuffled() {
            if free.count == count { return free }
            let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            defer { Foundation.close(socket) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            address.sin_port = UInt16(port).bigEndian
            let status = withUnsafeMutableBytes(of: &address) { address in
                address.withMemoryRebound(to: sockaddr.self) { address in
                    bind(socket, address.baseAddress, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if status == 0 { free.append(port) }
        }
        throw Failed(reason: "no port is free")
    }

    /// Waits until the server closes its side.
    /// - Throws: `TimeoutError` after the limit, with the line of the test and the end of what came
    public func receive(
        within limit: Duration = .seconds(30), fileID: String = #fileID, line: Int = #line
    ) async throws -> Received {
        try await receive("the server to close the connection", within: limit, fileID, line) { _ in false }
    }

    /// Waits until the received text is enough, or the server closes its side.
    /// - Throws: as ``receive(within:fileID:line:)``
    public func receive(
        within limit: Duration = .seconds(30), fileID: String = #fileID, line: Int = #line,
        until isEnough: @Sendable (String) -> Bool
    ) async throws -> Received {
        try await receive("enough text", within: limit, fileID, line) { isEnough(String(decoding: $0, as: UTF8.self)) }
    }

    /// Waits until this many bytes have come, or the server closes its side.
    /// - Throws: as ``receive(within:fileID:line:)``
    public func receive(
        bytes count: Int, within limit: Duration = .seconds(30), fileID: String = #fileID, line: Int = #line
    ) async throws -> Received {
        try await receive("\(count) bytes", within: limit, fileID, line) { $0.count >= count }
    }

    /// The bytes that the server sends within a time, for a test that expects none.
    public func received(for time: Duration) async throws -> Received {
        let end = ContinuousClock.now + time
        var bytes: [UInt8] = []
        while ContinuousClock.now < end {
            if takeNow(&bytes) { return Received(text: String(decoding: bytes, as: UTF8.self), isEnded: true) }
            try await Task.sleep(for: .milliseconds(5))
        }
        return Received(text: String(decoding: bytes, as: UTF8.self), isEnded: false)
    }

    private func receive(
        _ what: String, within limit: Duration, _ fileID: String, _ line: Int, until isEnough: ([UInt8]) -> Bool
    ) async throws -> Received {
        var bytes: [UInt8] = []
        var isEnded = false
        do {
            try await eventually(what, within: limit, every: .milliseconds(5), fileID: fileID, line: line) {
                var count = -1
                while count < bytes.count, !isEnded {
                    count = bytes.count
                    isEnded = takeNow(&bytes)
                    if bytes.count > count, isEnough(bytes) { return true }
                }
                return isEnded
            }
        } catch let late as TimeoutError {
            let tail = String(decoding: bytes.suffix(200), as: UTF8.self)
            throw TimeoutError(description: "\(late); \(bytes.count) bytes came, and end with \(tail.debugDescription)")
        }
        return Received(text: String(decoding: bytes, as: UTF8.self), isEnded: isEnded)
    }

    /// Appends the bytes that have come, at most 64 KiB.
    /// - Returns: whether the server has closed its side
    private func takeNow(_ bytes: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 { bytes += buffer[..<count] }
        return count == 0 || (count < 0 && errno != EAGAIN)
    }
}
