import Foundation

/// A plain TCP socket on this machine, cheap enough to open ten thousand.
struct LoopbackSocket: Sendable {
    struct Failed: Error {
        var doing: String
        var reason: String
    }

    private let descriptor: Int32

    init() throws {
        #if os(Linux)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw Self.failed("open a socket") }
    }

    func close() { _ = closeDescriptor(descriptor) }

    func bindToFreePort() throws -> Int {
        var address = Self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 ? getsockname(descriptor, pointer, &length) : -1
            }
        }
        guard status == 0 else { throw Self.failed("bind") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    func connect(to port: Int) throws {
        var address = Self.address(port: port)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                Foundation.connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw Self.failed("connect") }
    }

    func write(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard send(descriptor, bytes, bytes.count, Self.noSignal) == bytes.count else { throw Self.failed("write") }
    }

    /// The next bytes, at most 4 KiB; empty if none have arrived, nil at the end.
    func read() -> String? {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &bytes, bytes.count, Self.doNotWait)
        if count < 0 { return errno == EAGAIN || errno == EWOULDBLOCK ? "" : nil }
        return count == 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    private static func address(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }

    private static func failed(_ doing: String) -> Failed { Failed(doing: doing, reason: String(cString: strerror(errno))) }

    #if os(Linux)
        private static let noSignal = Int32(MSG_NOSIGNAL)
        private static let doNotWait = Int32(MSG_DONTWAIT)
    #else
        private static let noSignal: Int32 = 0
        private static let doNotWait = MSG_DONTWAIT
    #endif
}

/// Inside the type `close` names its method.
private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
