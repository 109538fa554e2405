internal import Foundation

/// The calls of the system that take pointers, for callers that have none. Each pointer is valid for one call, which gets the size
/// of its buffer.
enum SystemCalls {
    static func makePipe() -> (readEnd: Int32, writeEnd: Int32)? {
        var ends: [Int32] = [0, 0]
        return unsafe pipe(&ends) == 0 ? (ends[0], ends[1]) : nil
    }

    static func makeSocketPair(type: Int32) -> (Int32, Int32)? {
        var ends: [Int32] = [0, 0]
        return unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 ? (ends[0], ends[1]) : nil
    }

    static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int {
        unsafe bytes.withUnsafeBytes { unsafe Foundation.write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Reads at most 64 bytes, and drops them.
    static func drop(from descriptor: Int32) -> Int {
        var bytes = [UInt8](repeating: 0, count: 64)
        return unsafe read(descriptor, &bytes, bytes.count)
    }

    static func wait(for descriptors: inout [pollfd], milliseconds: Int32) -> Int32 {
        unsafe poll(&descriptors, nfds_t(descriptors.count), milliseconds)
    }

    static func setSendBuffer(of socket: Int32, bytes: Int32) {
        var bytes = bytes
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout.size(ofValue: bytes)))
    }

    /// The process at the other end of a Unix socket.
    static func peer(of socket: Int32) -> pid_t? {
        // `struct ucred`, which the Glibc module lacks.
        var peer: (process: pid_t, user: uid_t, group: gid_t) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: peer))
        return unsafe getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.process : nil
    }

    /// The reason of the last failure.
    static var reason: String { unsafe String(cString: strerror(errno)) }
}
