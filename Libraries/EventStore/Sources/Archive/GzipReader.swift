internal import CZlib
public import Foundation
internal import Synchronization

/// Decompresses a gzip file of any number of members, piece by piece. Source: RFC 1952.
///
/// Memory does not grow with the file. Zeros after the last member are padding, as for the program gzip; other bytes are an error.
public final class GzipReader: Sendable {
    private struct State {
        let gzip = GzipStream()
        /// Complete members so far.
        var members = 0
        var isWithinMember = true
        var isPadded = false
    }

    /// The first byte of a member.
    private static let magicNumber: UInt8 = 0x1F

    private let file: CancellableFile
    private let state: Mutex<State>

    /// - Parameter file: the reader keeps it open
    public init(_ file: FileHandle) {
        self.file = CancellableFile(file)
        state = Mutex(State())
    }

    /// Ends a call of ``read()`` that waits for bytes, and every later call. Safe to call from any thread.
    public func cancel() { file.cancel() }

    /// Reads the next decompressed bytes. Blocks the thread until there are some.
    /// - Returns: at most 128 KiB, or nil at the end of a complete file
    /// - Throws: ``GzipError``; `CancellationError` after ``cancel()``
    public func read() throws -> [UInt8]? {
        try state.withLock { state in
            while true {
                if state.gzip.nextByte == nil {
                    guard try state.gzip.readInput(from: file) > 0 else {
                        guard !state.isWithinMember else { throw GzipError.truncated }
                        return nil
                    }
                }
                guard try Self.beginsMember(&state) else { continue }
                let output = try Self.inflate(&state)
                if !output.isEmpty { return output }
            }
        }
    }

    /// Skips padding and begins the next member.
    /// - Returns: false if the input is used up
    private static func beginsMember(_ state: inout State) throws(GzipError) -> Bool {
        guard !state.isWithinMember else { return true }
        while state.gzip.nextByte == 0 {
            state.gzip.skipByte()
            state.isPadded = true
        }
        guard let next = state.gzip.nextByte else { return false }
        guard !state.isPadded, next == Self.magicNumber else { throw .trailingGarbage }
        state.gzip.beginMember()
        state.isWithinMember = true
        return true
    }

    private static func inflate(_ state: inout State) throws(GzipError) -> [UInt8] {
        let (output, result) = state.gzip.inflate()
        switch result {
        case Z_OK, Z_BUF_ERROR: return output
        case Z_STREAM_END:
            state.members += 1
            state.isWithinMember = false
            return output
        case _:
            // zlib reads the two bytes of the magic number before it reports that they are wrong.
            guard state.gzip.totals.output == 0, state.gzip.totals.input <= 2 else { throw .corrupt }
            throw state.members == 0 ? .notGzip : .trailingGarbage
        }
    }
}
