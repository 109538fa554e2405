internal import CZlib
public import Foundation
internal import Synchronization

/// Decompresses a gzip file of any number of members, piece by piece. Source: RFC 1952.
///
/// Memory does not grow with the file. Zeros after the last member are padding, as for the program gzip; other bytes are an error.
public final class GzipReader: Sendable {
    private struct State {
        /// Its buffer holds input.
        let gzip: GzipStream
        var stream: UnsafeMutablePointer<z_stream> { gzip.stream }
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
        let gzip = GzipStream(begin: { inflateInit2_($0, $1, ZLIB_VERSION, $2) }, end: { inflateEnd($0) })
        state = Mutex(State(gzip: gzip))
    }

    /// Ends a call of ``read()`` that waits for bytes, and every later call. Safe to call from any thread.
    public func cancel() { file.cancel() }

    /// Reads the next decompressed bytes. Blocks the thread until there are some.
    /// - Returns: at most 128 KiB, or nil at the end of a complete file
    /// - Throws: ``GzipError``; `CancellationError` after ``cancel()``
    public func read() throws -> [UInt8]? {
        try state.withLock { state in
            while true {
                if state.stream.pointee.avail_in == 0 {
                    let count = try file.read(into: UnsafeMutableRawBufferPointer(state.gzip.buffer))
                    guard count > 0 else {
                        guard !state.isWithinMember else { throw GzipError.truncated }
                        return nil
                    }
                    state.stream.pointee.next_in = state.gzip.buffer.baseAddress
                    state.stream.pointee.avail_in = UInt32(count)
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
        while state.stream.pointee.avail_in > 0, state.stream.pointee.next_in.pointee == 0 {
            state.stream.pointee.next_in += 1
            state.stream.pointee.avail_in -= 1
            state.isPadded = true
        }
        guard state.stream.pointee.avail_in > 0 else { return false }
        guard !state.isPadded, state.stream.pointee.next_in.pointee == Self.magicNumber else { throw .trailingGarbage }
        inflateReset(state.stream)
        state.isWithinMember = true
        return true
    }

    private static func inflate(_ state: inout State) throws(GzipError) -> [UInt8] {
        let stream = state.stream
        var result = Z_OK
        let output = [UInt8](unsafeUninitializedCapacity: GzipStream.chunkBytes) { output, count in
            stream.pointee.next_out = output.baseAddress
            stream.pointee.avail_out = UInt32(output.count)
            result = CZlib.inflate(stream, Z_NO_FLUSH)
            count = output.count - Int(stream.pointee.avail_out)
        }
        switch result {
        case Z_OK, Z_BUF_ERROR: return output
        case Z_STREAM_END:
            state.members += 1
            state.isWithinMember = false
            return output
        case _:
            // zlib reads the two bytes of the magic number before it reports that they are wrong.
            guard stream.pointee.total_out == 0, stream.pointee.total_in <= 2 else { throw .corrupt }
            throw state.members == 0 ? .notGzip : .trailingGarbage
        }
    }
}
