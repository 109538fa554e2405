internal import Foundation
internal import Synchronization

/// The program gzip between a file and this process.
final class GzipProcess: Sendable {
    enum Direction: String, Sendable {
        case compress = "-c"
        case decompress = "-dc"
    }

    struct Failed: Error, CustomStringConvertible {
        var direction: Direction
        var description: String {
            switch direction {
            case .compress: "gzip could not write the file; is the disk full?"
            case .decompress:
                "The file is damaged: it is not what gzip wrote, ends too early or goes on behind its end. Nothing was imported."
            }
        }
    }

    struct NotFound: Error, CustomStringConvertible {
        var description: String { "The program gzip is not where PATH looks: install it." }
    }

    private static let readSize = 128 * 1_024

    private let direction: Direction
    private let process: Mutex<Process>
    /// Its number, as long as it may run.
    private let running: Mutex<Int32?>
    /// The end of the pipe that is ours; nil once it is closed.
    private let pipe: Mutex<FileHandle?>

    /// Runs it for as long as the body does. A task that is cancelled does not wait for a file that gives or takes nothing.
    /// - Parameter file: where the compressed side is
    static func with<Value>(
        _ direction: Direction, _ file: FileHandle, _ body: (GzipProcess) async throws -> Value
    ) async throws -> Value {
        let gzip = try GzipProcess(direction, file)
        defer { gzip.close() }
        return try await withTaskCancellationHandler {
            try await body(gzip)
        } onCancel: {
            // It has inherited that this process ignores SIGTERM, and leaves no file of its own behind.
            gzip.running.withLock { running in if let running { kill(running, SIGKILL) } }
        }
    }

    private init(_ direction: Direction, _ file: FileHandle) throws {
        self.direction = direction
        guard let program = Self.program else { throw NotFound() }
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = program
        process.arguments = [direction.rawValue]
        // What it has to say is said by its exit code, in our words.
        process.standardError = FileHandle.nullDevice
        switch direction {
        case .compress: (process.standardInput, process.standardOutput) = (pipe, file)
        case .decompress: (process.standardInput, process.standardOutput) = (file, pipe)
        }
        try process.run()
        running = Mutex(process.processIdentifier)
        self.process = Mutex(process)
        self.pipe = Mutex(direction == .compress ? pipe.fileHandleForWriting : pipe.fileHandleForReading)
    }

    private static var program: URL? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
            .map { URL(fileURLWithPath: String($0)).appending(path: "gzip") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Blocks while gzip is busy.
    func write(_ bytes: [UInt8]) throws {
        do { try pipe.withLock { try $0?.write(contentsOf: Data(bytes)) } } catch { throw Failed(direction: direction) }
    }

    /// Blocks until there is something; nil at an end that gzip is content with.
    func read() throws -> [UInt8]? {
        let data = try pipe.withLock { try $0?.read(upToCount: Self.readSize) }
        if let data, !data.isEmpty { return Array(data) }
        try finish()
        return nil
    }

    /// Waits for gzip to be done with what it was given.
    func finish() throws {
        close()
        let status = process.withLock { process in
            process.waitUntilExit()
            return process.terminationStatus
        }
        running.withLock { $0 = nil }
        guard status == 0 else { throw Failed(direction: direction) }
    }

    /// gzip ends by itself when its pipe has no other end.
    private func close() {
        pipe.withLock { pipe in
            try? pipe?.close()
            pipe = nil
        }
    }
}
