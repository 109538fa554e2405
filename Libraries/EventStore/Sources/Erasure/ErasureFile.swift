internal import Foundation
public import Postgres
internal import SystemPackage

/// The erasure list of one node: a file on its local disk, outside of the database, with one line of JSON for each erasure of a person. A
/// restored log lacks the erasures after its backup, and gets them back from here. Lines are only ever added, and hold no word of a person.
/// ``ErasureList`` is the one writer.
public struct ErasureFile: Sendable {
    /// The file cannot be made, read or written.
    public struct Failure: Error, Hashable, CustomStringConvertible {
        public var path: String
        public var reason: String

        public var description: String {
            "Cannot use the erasure list \(path): \(reason). Give the account of the server a regular file there, or a directory in which it may make one."
        }
    }

    /// The bytes that are read at once: about six hundred lines.
    private static let readBytes = 192 << 10

    private let path: String

    public init(path: String) { self.path = path }

    /// Makes the file if it is missing, and checks that it can be read and written.
    /// - Throws: ``Failure``
    public func prepare() throws {
        let isNew = !FileManager.default.fileExists(atPath: path)
        try opened(.readWrite, .create) { _ -> Void in
            guard isNew else { return }
            // A crash of the machine must not take the new name away.
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            let directory = try FileDescriptor.open(FilePath(folder), .readOnly, options: [.directory, .closeOnExec])
            try directory.closeAfter { try directory.flush() }
        }
    }

    /// Calls the body with the lines, page by page. A missing file has none.
    /// - Returns: the size of the file in bytes, and the number of lines that cannot be read, because their appends did not finish
    /// - Throws: ``Failure``, and the errors of the body
    func read(_ body: ([Entry]) async throws -> Void) async throws -> (size: Int64, unreadable: Int) {
        var (size, rest, unreadable): (Int64, [UInt8], Int) = (0, [], 0)
        while FileManager.default.fileExists(atPath: path) {
            let bytes = try opened(.readOnly) { file -> Data in
                try file.seek(offset: size, from: .start)
                return try FileHandle(fileDescriptor: file.rawValue).read(upToCount: Self.readBytes) ?? Data()
            }
            size += Int64(bytes.count)
            var lines = (rest + bytes).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            // The last line may lack its line feed.
            if !bytes.isEmpty, let unfinished = lines.popLast() {
                // One byte more than fits shows that the line is too long.
                rest = Array(unfinished.prefix(Entry.lineLimit + 1))
            }
            let written = lines.filter { !$0.isEmpty }
            let page = written.compactMap { Entry($0) }
            unreadable += written.count - page.count
            if !page.isEmpty { try await body(page) }
            if bytes.isEmpty { break }
        }
        return (size, unreadable)
    }

    /// Adds lines, and returns when the disk has them. A line that an earlier append left unfinished stays a line of its own.
    /// - Parameter size: the size of the file in bytes, as the caller knows it
    /// - Returns: the new size; `nil` if the file has another size than that, and then nothing is added
    /// - Throws: ``Failure``; then the file has its old content
    func append(_ entries: [Entry], at size: Int64) throws -> Int64? {
        try opened(.readWrite, .append) { file -> Int64? in
            guard try file.seek(offset: 0, from: .end) == size else { return nil }
            try file.append(lines: entries.map(\.line).joined())
            return try file.seek(offset: 0, from: .end)
        }
    }

    /// Opens a regular file. Without `nonBlocking`, opening a named pipe would wait.
    private func opened<Value>(
        _ mode: FileDescriptor.AccessMode, _ option: FileDescriptor.OpenOptions = [], _ body: (FileDescriptor) throws -> Value
    ) throws -> Value {
        do {
            let options = option.union([.nonBlocking, .closeOnExec])
            let file = try FileDescriptor.open(FilePath(path), mode, options: options, permissions: .ownerReadWrite)
            return try file.closeAfter {
                guard try file.stat().type == .regular else { throw IrregularFile() }
                return try body(file)
            }
        } catch { throw Failure(path: path, reason: "\(error)") }
    }

    private struct IrregularFile: Error, CustomStringConvertible {
        var description: String { "it is no regular file" }
    }
}

extension ErasureFile {
    /// What tools show of the file.
    public struct Comparison: Sendable, Hashable {
        public var lines = 0
        /// Lines of the log in question.
        public var linesOfLog = 0
        public var unreadableLines = 0
        /// Erasures of persons that the log has, and that have no line.
        public var missingLines = 0
    }

    /// Compares the lines with the erasures of persons in the log, and changes nothing.
    /// - Parameter modules: all modules of the program
    /// - Throws: ``Failure``, `PostgresError`, ``LogGapError``, `FormatError`, `CancellationError`
    public func compared(with client: PostgresClient, _ modules: [StoredModule]) async throws -> Comparison {
        let log = try await LogReader(client: client).read(position: 1)?.envelope.id
        var (lines, known) = (0, [UUID]())
        let unreadable = try await read { page in
            lines += page.count
            known += page.filter { $0.log == log }.map(\.erased)
        }.unreadable
        let types = modules.persons.map { StoredType.erasure(of: $0.category) }
        let erased = try await client.query(
            "SELECT id FROM log.recorded_events WHERE type = ANY(\(types)) AND type LIKE '%Erased'"
        ).decode(UUID.self)
        return Comparison(
            lines: lines, linesOfLog: known.count, unreadableLines: unreadable,
            missingLines: Set(erased).subtracting(known).count)
    }
}
