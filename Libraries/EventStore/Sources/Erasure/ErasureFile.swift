public import Foundation
internal import Synchronization
internal import SystemPackage

/// The erasure list: a file outside of the database with one line of JSON for each erasure of a person. A restored log lacks the erasures
/// after its backup, and gets them back from here. Lines are only ever added, and hold no word of a person.
public struct ErasureFile: Sendable {
    /// The same call may succeed later, so that a subscription tries it again and parks nothing.
    public enum Failure: UnavailabilityError, Hashable, CustomStringConvertible {
        case missing(path: String)
        case notReadable(path: String, reason: String)
        case notWritable(path: String, reason: String)

        public var description: String {
            switch self {
            case .missing(let path):
                "The erasure list \(path) is missing. Mount its storage. If there never was a list, make an empty file: install -m 600 /dev/null \(path), for the account of the servers."
            case .notReadable(let path, let reason):
                "Cannot read the erasure list \(path): \(reason). Give the account of this program a regular file that it may read."
            case .notWritable(let path, let reason):
                "Cannot write the erasure list \(path): \(reason). No erasure ends until this program may write there."
            }
        }
    }

    /// The bytes that are read at once: about a thousand lines.
    private static let readBytes = 192 << 10
    /// How long an append waits for the append of another process.
    private static let lockPatience = Duration.seconds(5)
    /// How long a caller waits for the storage, which may be a network's.
    private static let patience = Duration.seconds(15)

    /// Threads that wait for storage. A hung network file system keeps them.
    private static let threads = Atomic(0)
    private static let threadLimit = 16

    private let path: String

    public init(path: String) { self.path = path }

    /// Makes the file for an empty log, and checks that it can be read. The list of a log with recorded events must be there: its storage
    /// may not be mounted after a disaster.
    /// - Throws: ``Failure``
    public func prepare(isLogEmpty: Bool) async throws {
        try await onThread { () throws -> Void in
            guard isLogEmpty, !FileManager.default.fileExists(atPath: path) else { return try reading().close() }
            do {
                try open(.writeOnly, [.create]).close()
                let directory = try FileDescriptor.open(FilePath(folder), .readOnly, options: [.directory, .closeOnExec])
                try directory.closeAfter { try directory.flush() }
            } catch { throw Failure.notWritable(path: path, reason: "\(error)") }
        }
    }

    /// Checks that the file can be read and written, for a caller that must know this before it changes anything.
    /// - Throws: ``Failure``
    public func check() async throws {
        try await onThread { () throws -> Void in
            try reading().close()
            do { try open(.readWrite).close() } catch { throw Failure.notWritable(path: path, reason: "\(error)") }
        }
    }

    /// Adds lines, and returns when the disk has them. A line that another append left unfinished stays a line of its own.
    /// - Throws: ``Failure``. Some of the lines may be there then
    func append(_ entries: [Entry]) async throws {
        guard !entries.isEmpty else { return }
        let lines = entries.map(\.line).joined()
        try await onThread { () throws -> Void in
            do { try add(lines) } catch Errno.noSuchFileOrDirectory { throw Failure.missing(path: path) } catch {
                throw Failure.notWritable(path: path, reason: "\(error)")
            }
        }
    }

    private func add(_ lines: String) throws {
        let file = try open(.readWrite, [.append])
        try file.closeAfter {
            // Without the lock, the rest of a short write could follow the line of another process.
            let deadline = ContinuousClock.now + Self.lockPatience
            while flock(file.rawValue, LOCK_EX | LOCK_NB) != 0 {
                let reason = Errno(rawValue: errno)
                guard reason == .wouldBlock || reason == .interrupted, ContinuousClock.now < deadline else { throw reason }
                Thread.sleep(forTimeInterval: 0.01)
            }
            try file.append(lines: lines)
        }
    }

    private var folder: String { URL(fileURLWithPath: path).deletingLastPathComponent().path }

    /// Calls the body with the lines, about a thousand at a time.
    /// - Parameter offset: in bytes, the end of an earlier call; the file is read from its beginning if it is shorter
    /// - Returns: the bytes up to the last finished line, and the number of lines that cannot be read. Their appends did not finish, and
    ///   were repeated
    /// - Throws: ``Failure``, and the errors of the body
    func read(from offset: Int64 = 0, _ body: ([Entry]) async throws -> Void) async throws -> (end: Int64, unreadable: Int) {
        var (place, end, rest, unreadable) = (offset, offset, [UInt8](), 0)
        while true {
            let (bytes, size) = try await onThread { [place] () throws -> (Data, Int64) in
                let file = try reading()
                return try file.closeAfter { () throws -> (Data, Int64) in
                    let size = try file.seek(offset: 0, from: .end)
                    try file.seek(offset: place, from: .start)
                    let handle = FileHandle(fileDescriptor: file.rawValue)
                    return (try handle.read(upToCount: Self.readBytes) ?? Data(), size)
                }
            }
            guard size >= place else {
                (place, end, rest, unreadable) = (0, 0, [], 0)
                continue
            }
            place += Int64(bytes.count)
            var lines = (rest + bytes).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            // The last line may lack its line feed.
            if !bytes.isEmpty, let unfinished = lines.popLast() {
                if !lines.isEmpty { end = place - Int64(unfinished.count) }
                // One byte more than fits shows that the line is too long.
                rest = Array(unfinished.prefix(Entry.lineLimit + 1))
            }
            let written = lines.filter { !$0.isEmpty }
            let page = written.compactMap { Entry($0) }
            unreadable += written.count - page.count
            if !page.isEmpty { try await body(page) }
            if bytes.isEmpty { return (end, unreadable) }
        }
    }

    private func reading() throws -> FileDescriptor {
        do { return try open(.readOnly) } catch Errno.noSuchFileOrDirectory { throw Failure.missing(path: path) } catch {
            throw Failure.notReadable(path: path, reason: "\(error)")
        }
    }

    /// Opens a regular file. Without `nonBlocking`, opening a named pipe would wait.
    private func open(_ mode: FileDescriptor.AccessMode, _ options: FileDescriptor.OpenOptions = []) throws -> FileDescriptor {
        let file = try FileDescriptor.open(
            FilePath(path), mode, options: options.union([.nonBlocking, .closeOnExec]), permissions: .ownerReadWrite)
        guard (try? file.stat())?.type == .regular else {
            try file.close()
            throw IrregularFile()
        }
        return file
    }

    private struct IrregularFile: Error, CustomStringConvertible {
        var description: String { "it is no regular file" }
    }

    /// Runs calls that may wait for a disk or a network on a thread of their own, not on Swift's. A call that hangs keeps its thread, and
    /// the caller goes on.
    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let hung = Failure.notReadable(path: path, reason: "the storage does not answer")
        guard Self.threads.add(1, ordering: .relaxed).newValue <= Self.threadLimit else {
            Self.threads.subtract(1, ordering: .relaxed)
            throw hung
        }
        return try await withCheckedThrowingContinuation { continuation in
            let waiting = Mutex<CheckedContinuation<Value, any Error>?>(continuation)
            let resume: @Sendable (Result<Value, any Error>) -> Void = { result in
                waiting.withLock { waiting in
                    defer { waiting = nil }
                    return waiting
                }?.resume(with: result)
            }
            let timer = Task {
                guard (try? await Task.sleep(for: Self.patience)) != nil else { return }
                resume(.failure(hung))
            }
            Thread {
                let result = Result { try body() }
                Self.threads.subtract(1, ordering: .relaxed)
                resume(result)
                timer.cancel()
            }.start()
        }
    }
}

extension ErasureFile {
    /// What tools show of the file.
    public struct Summary: Sendable, Hashable {
        public var lines = 0
        /// Lines of the log in question.
        public var linesOfLog = 0
        public var unreadableLines = 0
        /// Whether this process may add a line, as far as the rights tell.
        public var isWritable: Bool
    }

    /// Changes nothing.
    /// - Parameter log: the id of the first recorded event; `nil` for an empty log
    /// - Throws: ``Failure``
    public func summary(of log: UUID?) async throws -> Summary {
        var summary = Summary(isWritable: FileManager.default.isWritableFile(atPath: path))
        summary.unreadableLines = try await read { page in
            summary.lines += page.count
            summary.linesOfLog += page.count(where: { $0.log == log })
        }.unreadable
        return summary
    }
}
