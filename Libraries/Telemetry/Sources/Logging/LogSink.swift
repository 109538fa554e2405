internal import Foundation
internal import Logging

/// Writes lines to a file descriptor on a separate thread. Logging never blocks the caller: lines that cannot be written in time
/// are dropped and counted. No error of the descriptor reaches the caller: it may be closed, a full disk, or a pipe without a reader.
// `@unchecked`: the mutable properties are used only while the condition's lock is held.
public final class LogSink: @unchecked Sendable {
    /// Maximum number of bytes that wait to be written.
    static let limitBytes = 1 << 20
    /// Pause between two writes, so that a busy service makes few system calls, each with many lines.
    private static let pauseMicroseconds: UInt32 = 5_000
    /// Maximum seconds that ``flush()`` waits for a reader.
    private static let patienceSeconds = 1.0

    /// The process's standard error. It is flushed when the process exits.
    public static let standardError: LogSink = {
        let sink = LogSink(descriptor: STDERR_FILENO)
        atexit { LogSink.standardError.flush() }
        return sink
    }()

    private static let lineEnd = UInt8(ascii: "\n")

    /// Lines that wait to be written.
    private struct Batch {
        var bytes: [UInt8] = []
        /// The sink's own notices about dropped lines: the end of each in the bytes, and the number that it reports.
        var notices: [(end: Int, dropped: Int)] = []

        /// Counts the loss if only the first `written` bytes reach the descriptor: lost lines, and lines that the next notice must
        /// report. A notice does not count as a line. The number that a lost notice reported goes into the next notice.
        func loss(after written: Int) -> (lines: Int, unreported: Int) {
            let lost = notices.filter { $0.end > written }
            let lines = bytes[written...].count { $0 == LogSink.lineEnd } - lost.count
            return (lines, lost.reduce(lines) { $0 + $1.dropped })
        }
    }

    private let descriptor: Int32
    private let condition = NSCondition()
    private var waiting = Batch()
    private var isWriting = false
    private var droppedLines = 0
    private var unreportedLines = 0
    private var isRunning = false
    /// Whether the last line was written without its end, because the disk was full. Only the writing thread uses this property.
    private var isLineOpen = false

    /// - Parameter descriptor: stays open as long as the sink is used
    public init(descriptor: Int32) { self.descriptor = descriptor }

    /// Number of lines that could not be written.
    public var dropped: Int { condition.withLock { droppedLines } }

    /// Queues a line, and before it a notice if lines were dropped. Never waits.
    public func write(_ line: LogLine) {
        let format = line.format
        queue(line.finished(), format)
    }

    /// Queues a text as it is, such as the message of a command, and waits at most one second until it is written.
    public func write(_ text: String) {
        queue(Array(text.utf8), .text)
        flush()
    }

    private func queue(_ line: [UInt8], _ format: LogFormat) {
        condition.withLock {
            guard waiting.bytes.count + line.count <= Self.limitBytes else {
                droppedLines += 1
                unreportedLines += 1
                return
            }
            if unreportedLines > 0 {
                waiting.bytes += Self.notice(format, dropped: unreportedLines)
                waiting.notices.append((waiting.bytes.count, unreportedLines))
                unreportedLines = 0
            }
            waiting.bytes += line
            if !isRunning { start() }
            condition.broadcast()
        }
    }

    /// Waits at most one second until every queued line is written.
    public func flush() {
        let deadline = Date(timeIntervalSinceNow: Self.patienceSeconds)
        condition.withLock {
            while !waiting.bytes.isEmpty || isWriting { guard condition.wait(until: deadline) else { return } }
        }
    }

    private static func notice(_ format: LogFormat, dropped: Int) -> [UInt8] {
        var line = LogLine(format, .warning, "lines of the log were dropped, because they could not be written in time")
        line.add("lines", dropped)
        return line.finished()
    }

    private func start() {
        isRunning = true
        let thread = Thread { [self] in
            while true {
                writeOut()
                usleep(Self.pauseMicroseconds)
            }
        }
        thread.name = "log"
        thread.start()
    }

    private func writeOut() {
        let batch = condition.withLock {
            while waiting.bytes.isEmpty { condition.wait() }
            isWriting = true
            defer { waiting = Batch() }
            return waiting
        }
        if isLineOpen { isLineOpen = write([Self.lineEnd]) == 0 }
        // A line directly after half a line could not be parsed.
        let written = isLineOpen ? 0 : write(batch.bytes)
        if written > 0, written < batch.bytes.count { isLineOpen = batch.bytes[written - 1] != Self.lineEnd }
        let loss = batch.loss(after: written)
        condition.withLock {
            droppedLines += loss.lines
            unreportedLines += loss.unreported
            isWriting = false
            condition.broadcast()
        }
    }

    /// Waits for a slow reader, but not if the reader is gone or the disk is full.
    /// - Returns: the number of bytes written
    private func write(_ bytes: [UInt8]) -> Int {
        unsafe bytes.withUnsafeBytes { bytes in
            var rest = unsafe bytes[...]
            while unsafe !rest.isEmpty {
                let written = unsafe Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                switch (written, errno) {
                case (0..., _): unsafe rest = unsafe rest.dropFirst(written)
                case (_, EINTR): continue
                case (_, EAGAIN):
                    var output = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = unsafe poll(&output, 1, -1)
                case _: return unsafe bytes.count - rest.count
                }
            }
            return bytes.count
        }
    }
}
