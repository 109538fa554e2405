internal import CZlib
public import Foundation
internal import Synchronization

/// Compresses bytes into a gzip file of one member, piece by piece. Source: RFC 1952.
public final class GzipWriter: Sendable {
    private struct State {
        /// zlib keeps a pointer to it, so that it must not move.
        let stream: UnsafeMutablePointer<z_stream>
        let output = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: chunkBytes)
    }

    private static let chunkBytes = 128 * 1_024
    /// zlib's number for a window of 32 KiB and the format gzip.
    private static let gzipWindow: Int32 = 15 + 16
    /// The level of the program gzip.
    private static let level: Int32 = 6
    /// zlib's default memory level.
    private static let memoryLevel: Int32 = 8

    private let file: CancellableFile
    private let state: Mutex<State>

    /// - Parameter file: the writer keeps it open
    public init(_ file: FileHandle) {
        self.file = CancellableFile(file)
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let result = deflateInit2_(
            stream, Self.level, Z_DEFLATED, Self.gzipWindow, Self.memoryLevel, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        precondition(result == Z_OK, "zlib cannot allocate memory")
        state = Mutex(State(stream: stream))
    }

    deinit {
        state.withLock { state in
            deflateEnd(state.stream)
            state.stream.deallocate()
            state.output.deallocate()
        }
    }

    /// Ends a call of ``write(_:)`` or ``finish()`` that waits for a reader, and every later call. Safe to call from any thread.
    public func cancel() { file.cancel() }

    /// Compresses bytes. Blocks the thread while the file accepts none.
    /// - Throws: ``GzipError/cannotWrite(reason:)``, ``GzipError/readerClosed``; `CancellationError` after ``cancel()``
    public func write(_ bytes: [UInt8]) throws { try deflate(bytes, Z_NO_FLUSH) }

    /// Writes the end of the file. No call of ``write(_:)`` may follow.
    /// - Throws: ``GzipError/cannotWrite(reason:)``, ``GzipError/readerClosed``; `CancellationError` after ``cancel()``
    public func finish() throws { try deflate([], Z_FINISH) }

    private func deflate(_ bytes: [UInt8], _ flush: Int32) throws {
        try state.withLock { state in
            try bytes.withUnsafeBufferPointer { bytes in
                let stream = state.stream
                // zlib reads from this pointer only.
                stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
                stream.pointee.avail_in = UInt32(bytes.count)
                repeat {
                    stream.pointee.next_out = state.output.baseAddress
                    stream.pointee.avail_out = UInt32(state.output.count)
                    CZlib.deflate(stream, flush)
                    let count = state.output.count - Int(stream.pointee.avail_out)
                    try file.write(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(state.output)[..<count]))
                    // A full output means that zlib may have more.
                } while stream.pointee.avail_out == 0
            }
        }
    }
}
