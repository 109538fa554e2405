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
    private let gzip: Mutex<GzipStream>

    /// - Parameter file: the writer keeps it open
    public init(_ file: FileHandle) {
        self.file = CancellableFile(file)
        gzip = Mutex(GzipStream(level: Self.level, memoryLevel: Self.memoryLevel))
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
        try gzip.withLock { try $0.deflate(bytes, flush, to: file) }
    }
}
