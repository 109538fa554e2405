internal import Foundation

/// The one way to standard output for what a command found.
enum StandardOutput {
    /// - Throws: ``OutputClosed``, where SIGPIPE is ignored; ``OutputFailed``
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

    /// Whether somebody still reads: for a command that has nothing to write for a long time.
    /// - Throws: ``OutputClosed``
    static func checkReader() throws {
        var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        guard poll(&output, 1, 0) > 0, output.revents & Int16(POLLERR | POLLHUP) != 0 else { return }
        throw OutputClosed()
    }
}

/// Whoever read what we print has seen enough: `humon log tail | head`.
struct OutputClosed: Error {}

struct OutputFailed: Error, CustomStringConvertible {
    var reason: String
    var description: String { "Cannot write to standard output: \(reason)" }
}
