internal import Foundation
package import SystemPackage

extension FileDescriptor {
    /// Appends whole lines, and returns when the disk has them. A last line without an end stays a line of its own.
    /// - Throws: `Errno`; then the file has its old content
    package func append(lines: String) throws {
        let size = try seek(offset: 0, from: .end)
        do {
            try writeAll(((try endsWithinLine(size) ? "\n" : "") + lines).utf8)
            try flush()
        } catch {
            // Each attempt on a full disk would leave a piece.
            _ = ftruncate(rawValue, off_t(size))
            throw error
        }
    }

    private func endsWithinLine(_ size: Int64) throws -> Bool {
        guard size > 0 else { return false }
        let handle = FileHandle(fileDescriptor: rawValue)
        try handle.seek(toOffset: UInt64(size - 1))
        return try handle.read(upToCount: 1)?.first != UInt8(ascii: "\n")
    }

    func flush() throws {
        guard fsync(rawValue) == 0 else { throw Errno(rawValue: errno) }
    }
}
