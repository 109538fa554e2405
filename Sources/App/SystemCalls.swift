// C structures of libc belong to the module that is loaded first, which may be this one.
internal import CoreFoundation
internal import Foundation
internal import SystemPackage

/// The calls of the system that take pointers and that neither Foundation nor swift-system has. Each pointer is valid for one call,
/// which gets the size of its buffer.
///
/// This is the only file of the target with unsafe code.
enum SystemCalls {
    static func hostName() -> String? {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The events that a descriptor has, of these ones and of errors; 0 if none comes in time.
    static func poll(_ descriptor: Int32, events: Int32 = 0, milliseconds: Int32 = 0) -> Int32 {
        var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        return unsafe Foundation.poll(&request, 1, milliseconds) > 0 ? Int32(request.revents) : 0
    }

    /// - Returns: the number of bytes that the descriptor took
    static func write(_ bytes: ArraySlice<UInt8>, to descriptor: FileDescriptor) throws -> Int {
        try unsafe bytes.withUnsafeBytes { try unsafe descriptor.write($0) }
    }

    /// The bytes of a file system that an ordinary account may still write.
    static func freeBytes(in directory: String) throws(Errno) -> Int64 {
        var statistics = statvfs()
        guard unsafe statvfs(directory, &statistics) == 0 else { throw Errno(rawValue: errno) }
        return Int64(clamping: UInt64(statistics.f_bavail) * UInt64(statistics.f_frsize))
    }

    /// Raises the maximum number of descriptors as far as the system allows.
    /// - Returns: the maximum
    static func raiseDescriptorLimit() -> UInt64? {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return UInt64(limit.rlim_cur)
    }
}
