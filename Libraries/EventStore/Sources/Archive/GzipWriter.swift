internal import CZlib
public import Foundation
internal import Synchronization

/// Compresses bytes into a gzip file of one member, piece by piece. Source: RFC 1952.
public final class GzipWriter: Sendable {
    /// The level of the program gzip.
    private static let level: Int32 = 6
    /// zlib's default memory level.
    private static let memoryLevel: Int32 = 8

    private let file: CancellableFile
    /// Its buffer holds output.
    private let gzip: Mutex<GzipStream>

    /// - Parameter file: the writer keeps it open
    public init(_ file: FileHandle) {
        self.file = CancellableFile(file)
        let stream = GzipStream(
            begin: { deflateInit2_($0, Self.level, Z_DEFLATED, $1, Self.memoryLevel, Z_DEFAULT_STRATEGY, ZLIB_VERSION, $2) },
            end: { deflateEnd($0) })
        gzip = Mutex(stream)
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
        try gzip.withLock { gzip in
            try bytes.withUnsafeBufferPointer { bytes in
                let stream = gzip.stream
                // zlib reads from this pointer only.
                stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
                stream.pointee.avail_in = UInt32(bytes.count)
                repeat {
                    stream.pointee.next_out = gzip.buffer.baseAddress
                    stream.pointee.avail_out = UInt32(gzip.buffer.count)
                    CZlib.deflate(stream, flush)
                    let count = gzip.buffer.count - Int(stream.pointee.avail_out)
                    try file.write(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(gzip.buffer)[..<count]))
                    // A full output means that zlib may have more.
                } while stream.pointee.avail_out == 0
            }
        }
    }
}
