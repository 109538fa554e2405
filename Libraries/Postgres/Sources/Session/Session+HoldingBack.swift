internal import CLibPQ
internal import Foundation

/// How all statements of a transaction are queued before PostgreSQL gets the first byte.
extension Session {
    /// Runs the body, during which libpq sends nothing and keeps every message in its own buffer.
    ///
    /// libpq sends each full 8 KiB while messages are queued. PostgreSQL would run the first statements, with the locks that they take,
    /// and wait for the rest. If this process froze in that moment, the locks would be held for as long as it is frozen. So libpq's
    /// descriptor is another socket meanwhile, which takes no byte. To libpq, and to OpenSSL, PostgreSQL's socket is full.
    /// - Returns: false if the body does, or if the connection is not usable any more
    func holdingBack(_ body: () -> Bool) -> Bool {
        let descriptor = connection.socket
        let kept = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard kept >= 0 else { return false }
        defer { close(kept) }
        guard let full = Self.fullSocket, Self.replace(descriptor, by: full) else { return false }
        let isQueued = body()
        return Self.replace(descriptor, by: kept) && isQueued
    }

    /// Atomic, because a program that this process starts in this moment must not inherit the socket.
    private static func replace(_ descriptor: Int32, by other: Int32) -> Bool { dup3(other, descriptor, O_CLOEXEC) >= 0 }

    /// A socket without room for a byte, from which nothing comes; `nil` if this process had no descriptors left at the first use. The
    /// other end stays open.
    private static let fullSocket: Int32? = {
        guard let (descriptor, other) = SystemCalls.makeSocketPair(type: Int32(SOCK_STREAM.rawValue)) else { return nil }
        for end in [descriptor, other] {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        let bytes = [UInt8](repeating: 0, count: 4_096)
        for count in [bytes.count, 1] { while SystemCalls.write(bytes.prefix(count), to: descriptor) > 0 {} }
        return descriptor
    }()

    /// Asks the kernel for a send buffer that takes whole transactions: a process that freezes later delays none of their bytes.
    func enlargeSendBuffer() {
        guard let bytes = configuration.sendBufferBytes else { return }
        SystemCalls.setSendBuffer(of: connection.socket, bytes: bytes)
    }
}
