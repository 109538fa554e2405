internal import Foundation

/// Writes the result of a command.
enum StandardOutput {
    /// - Throws: ``OutputClosed`` if the reader is gone, because SIGPIPE is ignored; ``OutputFailed``
    @Sendable static func write(_ text: String) throws {
        var text = text
        try text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)[...]
            while !rest.isEmpty {
                let written = Foundation.write(STDOUT_FILENO, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                switch (written, errno) {
                case (0..., _): rest = rest.dropFirst(written)
                case (_, EINTR): continue
                case (_, EPIPE): throw OutputClosed()
                case (_, let code): throw OutputFailed(reason: String(cString: strerror(code)))
                }
            }
        }
    }

    /// Checks that the output still has a reader, for a command that writes rarely.
    /// - Throws: ``OutputClosed`` if the reader is gone
    static func checkReader() throws {
        var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        guard poll(&output, 1, 0) > 0, output.revents & Int16(POLLERR | POLLHUP) != 0 else { return }
        throw OutputClosed()
    }
}

/// The reader of the output is gone, as in `humon log tail | head`.
struct OutputClosed: Error {}

struct OutputFailed: Error, CustomStringConvertible {
    var reason: String
    var description: String { "Cannot write to standard output: \(reason)" }
}
