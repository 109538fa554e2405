internal import Foundation

/// The calls of the system that take pointers, for callers that have none. Each result is that of the call of the same name, with
/// its reason in `errno`.
///
/// This is the only file of the library with unsafe code. Each pointer is valid for one call, which gets the size of its buffer.
enum SystemCalls {
    static func open(_ path: String, _ flags: Int32) -> Int32 { unsafe Foundation.open(path, flags) }

    static func open(_ name: String, in directory: Int32, _ flags: Int32, mode: mode_t = 0) -> Int32 {
        unsafe openat(directory, name, flags, mode)
    }

    static func makeDirectory(_ path: String, mode: mode_t) -> Int32 { unsafe mkdir(path, mode) }

    static func makeDirectory(_ name: String, in directory: Int32, mode: mode_t) -> Int32 {
        unsafe mkdirat(directory, name, mode)
    }

    static func rename(_ name: String, in directory: Int32, to newName: String, in newDirectory: Int32) -> Int32 {
        unsafe renameat(directory, name, newDirectory, newName)
    }

    /// - Parameter flags: `AT_REMOVEDIR` for a directory
    @discardableResult
    static func remove(_ name: String, in directory: Int32, _ flags: Int32 = 0) -> Int32 {
        unsafe unlinkat(directory, name, flags)
    }

    static func status(of file: Int32) -> stat? {
        var status = stat()
        return unsafe fstat(file, &status) == 0 ? status : nil
    }

    /// - Returns: at most `count` bytes from the beginning; `nil` after an error
    static func read(_ file: Int32, count: Int) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let read = unsafe buffer.withUnsafeMutableBytes {
                unsafe pread(file, $0.baseAddress?.advanced(by: done), count - done, off_t(done))
            }
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { return nil }
            if read == 0 { break }
            done += read
        }
        buffer.removeLast(count - done)
        return buffer
    }

    /// - Returns: whether all bytes are written
    static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let written = unsafe bytes.withUnsafeBytes {
                unsafe Foundation.write(file, $0.baseAddress?.advanced(by: done), bytes.count - done)
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return false }
            done += written
        }
        return true
    }

    /// The reason of the last failure.
    static var reason: String { unsafe String(cString: strerror(errno)) }
}
