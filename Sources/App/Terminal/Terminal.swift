internal import Foundation

/// The terminal behind a standard stream.
enum Terminal {
    /// Whether a descriptor is a terminal that obeys escape sequences: `TERM=dumb` says that it does not.
    static func obeysEscapes(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }
}
