internal import Foundation
internal import Synchronization

/// Reads and writes a file or a pipe, and gives up within a tenth of a second when it is cancelled.
final class CancellableFile: Sendable {
    private static let pollMilliseconds: Int32 = 100
    /// POSIX: a pipe that is ready for writing accepts this many bytes without blocking.
    private static let writeBytes = Int(PIPE_BUF)

    private let file: FileHandle
    private let isCancelled = Atomic(false)

    init(_ file: FileHandle) { self.file = file }

    private var descriptor: Int32 { file.fileDescriptor }

    func cancel() { isCancelled.store(true, ordering: .releasing) }

    /// - Returns: the number of bytes; 0 at the end of the file
    /// - Throws: ``ZstandardError/cannotRead(reason:)``, `CancellationError`
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            try wait(for: POLLIN)
            let count = unsafe Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR || errno == EAGAIN else {
                throw ZstandardError.cannotRead(reason: unsafe String(cString: strerror(errno)))
            }
        }
    }

    /// - Throws: ``ZstandardError/cannotWrite(reason:)``, ``ZstandardError/readerClosed``, `CancellationError`
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty {
            try wait(for: POLLOUT)
            let piece = unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(Self.writeBytes))
            switch unsafe (Foundation.write(descriptor, piece.baseAddress, piece.count), errno) {
            case (let count, _) where count >= 0: unsafe rest = unsafe rest.dropFirst(count)
            case (_, EINTR), (_, EAGAIN): continue
            case (_, EPIPE): throw ZstandardError.readerClosed
            case (_, let error): throw ZstandardError.cannotWrite(reason: unsafe String(cString: strerror(error)))
            }
        }
    }

    private func wait(for event: Int32) throws {
        var request = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        repeat {
            guard !isCancelled.load(ordering: .acquiring) else { throw CancellationError() }
        } while unsafe poll(&request, 1, Self.pollMilliseconds) <= 0
    }
}
