internal import Foundation
internal import SystemPackage

/// Writes the result of a command.
enum StandardOutput {
    /// - Throws: ``OutputClosed`` if the reader is gone, because SIGPIPE is ignored; ``CommandFailure``
    @Sendable static func write(_ text: String) throws {
        do { try FileDescriptor.standardOutput.writeAll(text.utf8) } catch Errno.brokenPipe {
            throw OutputClosed()
        } catch let error as Errno {
            throw CommandFailure("Cannot write to standard output: \(error)")
        }
    }

    /// Writes lines of stored text, which a terminal must not obey.
    /// - Throws: as ``write(_:)``
    static func write(lines: [UInt8]) throws {
        let lines = String(decoding: lines, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        try write(lines.map { harmless(String($0)) }.joined(separator: "\n"))
    }

    /// Checks that the output still has a reader, for a command that writes rarely.
    /// - Throws: ``OutputClosed`` if the reader is gone
    static func checkReader() throws {
        if SystemCalls.pollNow(STDOUT_FILENO) & (POLLERR | POLLHUP) != 0 { throw OutputClosed() }
    }
}

/// The reader of the output is gone, as in `humon log tail | head`.
struct OutputClosed: Error {}
