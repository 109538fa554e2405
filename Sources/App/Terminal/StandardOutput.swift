internal import Foundation
internal import SystemPackage

/// Writes the result of a command.
enum StandardOutput {
    private static let pollMilliseconds: Int32 = 100

    /// Waits for a slow reader, until the task is cancelled.
    /// - Throws: ``OutputClosed`` if the reader is gone, because SIGPIPE is ignored; ``CommandFailure``; `CancellationError`
    @Sendable static func write(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            while SystemCalls.poll(STDOUT_FILENO, events: POLLOUT, milliseconds: pollMilliseconds) == 0 {
                try Task.checkCancellation()
            }
            do {
                // POSIX: a pipe that is ready for writing accepts this many bytes without blocking.
                rest = rest.dropFirst(try SystemCalls.write(rest.prefix(Int(PIPE_BUF)), to: .standardOutput))
            } catch Errno.wouldBlock {
                continue
            } catch Errno.brokenPipe {
                throw OutputClosed()
            } catch let error as Errno {
                throw CommandFailure("Cannot write to standard output: \(error)")
            }
        }
    }

    /// Checks that the output still has a reader, for a command that writes rarely.
    /// - Throws: ``OutputClosed`` if the reader is gone
    static func checkReader() throws {
        if SystemCalls.poll(STDOUT_FILENO) & (POLLERR | POLLHUP) != 0 { throw OutputClosed() }
    }
}

/// The reader of the output is gone, as in `humon log tail | head`.
struct OutputClosed: Error {}
