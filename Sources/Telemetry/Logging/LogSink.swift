internal import Foundation
internal import Telemetry

/// Takes lines and writes them to a descriptor on a thread of its own, so that whoever logs never waits for whoever reads: what is
/// more than a reader takes is dropped, and counted.
// `@unchecked`: what changes is touched only while the condition's lock is held.
final class LogSink: @unchecked Sendable {
    /// So much may wait to be written.
    static let limitBytes = 1 << 20
    /// So long it rests between two writes, so that a busy service makes few of them, of many lines each.
    private static let pauseMicroseconds: UInt32 = 5_000
    /// So long the end of the process waits for a reader.
    private static let patienceSeconds = 1.0

    static let standardError: LogSink = {
        let sink = LogSink(descriptor: STDERR_FILENO)
        atexit { LogSink.standardError.flush() }
        return sink
    }()

    private static let lineEnd = UInt8(ascii: "\n")

    /// Lines that wait to be written.
    private struct Batch {
        var bytes: [UInt8] = []
        /// The sink's own lines, each of which counts the lines dropped before it: its end in the bytes, and its count.
        var notices: [(end: Int, dropped: Int)] = []

        /// The loss if only the first `written` bytes reach the descriptor: lines of the log, and lines for the next notice to count.
        /// A notice is no line of the log. The lines that a lost notice counted belong into the next one.
        func loss(after written: Int) -> (lines: Int, unsaid: Int) {
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
    private var untoldLines = 0
    private var isRunning = false
    /// Whether the last line that was written has no end, since the disk was full. Only the thread that writes touches it.
    private var isLineOpen = false

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Lines that could not be written.
    var dropped: Int { condition.withLock { droppedLines } }

    /// - Parameter tell: makes a line that says how many were dropped before it
    func write(_ line: [UInt8], tell: (Int) -> [UInt8]) {
        condition.withLock {
            guard waiting.bytes.count + line.count <= Self.limitBytes else {
                droppedLines += 1
                untoldLines += 1
                return
            }
            if untoldLines > 0 {
                waiting.bytes += tell(untoldLines)
                waiting.notices.append((waiting.bytes.count, untoldLines))
                untoldLines = 0
            }
            waiting.bytes += line
            if !isRunning { start() }
            condition.broadcast()
        }
    }

    /// Returns when all is written, or the reader does not take it.
    func flush() {
        let deadline = Date(timeIntervalSinceNow: Self.patienceSeconds)
        condition.withLock {
            while !waiting.bytes.isEmpty || isWriting { guard condition.wait(until: deadline) else { return } }
        }
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
        // Behind half a line the next one could not be read.
        let written = isLineOpen ? 0 : write(batch.bytes)
        if written > 0, written < batch.bytes.count { isLineOpen = batch.bytes[written - 1] != Self.lineEnd }
        let loss = batch.loss(after: written)
        condition.withLock {
            droppedLines += loss.lines
            untoldLines += loss.unsaid
            isWriting = false
            condition.broadcast()
        }
    }

    /// Waits for a reader that is slow, but not for one that is gone or for a disk that is full.
    /// - Returns: how many bytes were written
    private func write(_ bytes: [UInt8]) -> Int {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                switch (written, errno) {
                case (0..., _): rest = rest.dropFirst(written)
                case (_, EINTR): continue
                case (_, EAGAIN):
                    var output = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&output, 1, -1)
                case _: return bytes.count - rest.count
                }
            }
            return bytes.count
        }
    }
}

extension LogSink {
    var metrics: [Metric] {
        [
            .counter(
                "humon_log_lines_dropped_total",
                "Lines of the log that could not be written: the reader is too slow or gone, or the disk is full.",
                Double(dropped))
        ]
    }
}
