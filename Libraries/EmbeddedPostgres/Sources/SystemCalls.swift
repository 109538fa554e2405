// A structure of libc belongs to the module that is loaded first, which may be this one.
internal import CoreFoundation
internal import Foundation

/// The calls of the system that take pointers, for callers that have none. Each result is that of the call of the same name, with
/// its reason in `errno`.
///
/// This is the only file of the library with unsafe code. Each pointer is valid for one call.
enum SystemCalls {
    static func rename(_ name: String, to newName: String) -> Int32 { unsafe Foundation.rename(name, newName) }

    /// Exchanges two names of a file system in one step, so that at every moment each of them is there.
    static func exchange(_ name: String, with other: String) -> Int32 {
        #if os(Linux)
            typealias Call = @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
            // The headers that Swift sees have neither the function nor its flag, RENAME_EXCHANGE.
            guard let symbol = unsafe dlsym(nil, "renameat2") else {
                errno = ENOSYS
                return -1
            }
            return unsafe unsafeBitCast(symbol, to: Call.self)(AT_FDCWD, name, AT_FDCWD, other, 1 << 1)
        #else
            return unsafe renamex_np(name, other, UInt32(RENAME_SWAP))
        #endif
    }

    /// The bytes of a file system that an ordinary account may still write; nil after a failure.
    static func freeBytes(in directory: String) -> Int64? {
        var statistics = statvfs()
        guard unsafe statvfs(directory, &statistics) == 0 else { return nil }
        return Int64(clamping: UInt64(statistics.f_bavail) * UInt64(statistics.f_frsize))
    }

    static func makeDirectory(_ path: String, mode: mode_t) -> Int32 { unsafe mkdir(path, mode) }

    /// Changes the owner of a link itself, not of its target.
    static func changeOwner(of path: String, to user: uid_t, _ group: gid_t) -> Int32 { unsafe lchown(path, user, group) }

    @discardableResult
    static func removeDirectory(_ path: String) -> Int32 { unsafe rmdir(path) }

    /// The path without links.
    static func realPath(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// Takes a variable out of the environment of this process, and of the programs that it starts later.
    static func removeVariable(_ name: String) { unsafe unsetenv(name) }

    /// The reason of the last failure.
    static var reason: String { unsafe String(cString: strerror(errno)) }

    /// The user and the group of an account.
    static func account(named name: String) -> (user: uid_t, group: gid_t)? {
        unsafe getpwnam(name).map { unsafe ($0.pointee.pw_uid, $0.pointee.pw_gid) }
    }
}
