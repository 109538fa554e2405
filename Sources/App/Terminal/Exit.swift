internal import ArgumentParser
internal import Foundation

/// What humon's exit codes mean; a promise to scripts. 64, for an unusable command line, is ArgumentParser's.
enum Exit {
    static let done: Int32 = 0
    /// It could not be done; a sentence on standard error says why.
    static let failed: Int32 = 1
    /// It was done, and the answer is no: differences, faults, nothing found.
    static let no: Int32 = 2
    /// Added to a signal's number, as shells do: 130 for Ctrl-C, 143 for SIGTERM.
    static let signalled: Int32 = 128
}

/// A command was carried out, and the answer is no.
struct NegativeResult: Error {
    /// For standard error; nil where what was printed says it.
    var sentence: String?

    init(_ sentence: String? = nil) { self.sentence = sentence }
}

extension Humon {
    /// Ends the process.
    static func exit(after error: any Error) -> Never {
        switch error {
        case is OutputClosed: Foundation.exit(Exit.done)
        case let interruption as Interruption: Foundation.exit(Exit.signalled + interruption.signal)
        case let answer as NegativeResult:
            if let sentence = answer.sentence { FileHandle.standardError.write(Data((harmless(sentence) + "\n").utf8)) }
            Foundation.exit(Exit.no)
        case let error: exit(withError: error)
        }
    }
}
