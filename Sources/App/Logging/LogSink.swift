internal import Foundation
internal import Telemetry

/// Takes lines and writes them to a descriptor on a thread of its own, so that whoever logs never waits for whoever reads: what is
/// more than a reader takes is dropped, and counted.
// `@unchecked`: what changes is touched only while the condition's lock is held.
final class LogSink: @unchecked Sendable {
    /// So much may wait to be written.
    static let limitBytes = 1 << 20
    /// So long the end of the process waits for a reader.
    private static let patienceSeconds = 1.0

    static let standardError: LogSink = {
        let sink = LogSink(descriptor: STDERR_FILENO)
        atexit { LogSink.standardError.flush() }
        return sink
    }()

    private let descriptor: Int32
    private let condition = NSCondition()
    private var waiting: [UInt8] = []
    private var isWriting = false
    private var droppedLines = 0
    private var untoldLines = 0
    private var isRunning = false

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Lines that nobody will see.
    var dropped: Int { condition.withLock { droppedLines } }

    /// - Parameter tell: makes a line that says how many were dropped before it
    func write(_ line: [UInt8], tell: (Int) -> [UInt8]) {
        condition.withLock {
            guard waiting.count + line.count <= Self.limitBytes else {
                droppedLines += 1
                untoldLines += 1
                return
            }
            if untoldLines > 0 {
                waiting += tell(untoldLines)
                untoldLines = 0
            }
            waiting += line
            if !isRunning { start() }
            condition.broadcast()
        }
    }

    /// Returns when all is written, or the reader does not take it.
    func flush() {
        let deadline = Date(timeIntervalSinceNow: Self.patienceSeconds)
        condition.withLock {
            while !waiting.isEmpty || isWriting { guard condition.wait(until: deadline) else { return } }
        }
    }

    private func start() {
        isRunning = true
        let thread = Thread { [self] in while true { writeOut() } }
        thread.name = "log"
        thread.start()
    }

    private func writeOut() {
        let bytes = condition.withLock {
            while waiting.isEmpty { condition.wait() }
            isWriting = true
            defer { waiting = [] }
            return waiting
        }
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
                // Nobody reads any more.
                case _: rest = rest.dropFirst(rest.count)
                }
            }
        }
        condition.withLock {
            isWriting = false
            condition.broadcast()
        }
    }
}

extension LogSink {
    var metrics: [Metric] {
        [.counter("humon_log_lines_dropped_total", "Lines of the log that nobody read in time.", Double(dropped))]
    }
}
