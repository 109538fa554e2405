internal import Foundation

/// The calls of the system that take pointers, for callers that have none. Each result is that of the call of the same name, with
/// its reason in `errno`.
///
/// This is the only file of the library with unsafe code. Each pointer is valid for one call, which gets the size of its buffer.
enum SystemCalls {
    static func open(_ path: String, _ flags: Int32, mode: mode_t = 0) -> Int32 { unsafe Foundation.open(path, flags, mode) }

    static func open(_ name: String, in directory: Int32, _ flags: Int32, mode: mode_t = 0) -> Int32 {
        unsafe openat(directory, name, flags, mode)
    }

    static func rename(_ name: String, to newName: String) -> Int32 { unsafe Foundation.rename(name, newName) }

    static func rename(_ name: String, to newName: String, in directory: Int32) -> Int32 {
        unsafe renameat(directory, name, directory, newName)
    }

    @discardableResult
    static func remove(_ name: String, in directory: Int32) -> Int32 { unsafe unlinkat(directory, name, 0) }

    static func makeDirectory(_ path: String, mode: mode_t) -> Int32 { unsafe mkdir(path, mode) }

    @discardableResult
    static func removeDirectory(_ path: String) -> Int32 { unsafe rmdir(path) }

    /// - Parameter template: a path that ends in `XXXXXX`
    static func makeTemporaryDirectory(_ template: String) -> String? {
        var path = Array(template.utf8CString)
        guard unsafe mkdtemp(&path) != nil else { return nil }
        return String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The path without links.
    static func realPath(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    static func status(of file: Int32) -> stat? {
        var status = stat()
        return unsafe fstat(file, &status) == 0 ? status : nil
    }

    /// - Returns: at most `count` bytes
    static func read(_ file: Int32, at offset: Int, count: Int) -> ArraySlice<UInt8>? {
        var buffer = [UInt8](repeating: 0, count: count)
        let read = unsafe pread(file, &buffer, count, off_t(offset))
        return read < 0 ? nil : buffer[..<read]
    }

    /// - Returns: whether all bytes are written
    static func write(_ bytes: [UInt8], to file: Int32, at offset: Int = 0) -> Bool {
        unsafe pwrite(file, bytes, bytes.count, off_t(offset)) == bytes.count
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
