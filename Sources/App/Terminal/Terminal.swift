internal import Foundation

/// The terminal behind a standard stream.
struct Terminal: Sendable, Hashable {
    static let output = Terminal(descriptor: STDOUT_FILENO)
    static let error = Terminal(descriptor: STDERR_FILENO)

    /// The width that we assume if the terminal does not know its own.
    private static let usualWidth = 80

    /// The width in columns; `nil` if the stream is no terminal.
    let width: Int?
    /// Whether the terminal obeys escape sequences: `TERM=dumb` says that it does not.
    let obeysEscapes: Bool

    init(descriptor: Int32) {
        guard isatty(descriptor) == 1 else {
            (width, obeysEscapes) = (nil, false)
            return
        }
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        width = isKnown ? Int(size.ws_col) : Self.usualWidth
        obeysEscapes = ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }
}
