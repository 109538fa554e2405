internal import EventStore
internal import Foundation
internal import Synchronization
internal import Telemetry

/// The progress of a long task on standard error: how much is done, the rate, and the remaining time. A terminal gets one line that
/// is drawn again and again; any other reader gets a new line at most once a second.
final class ProgressBar: Sendable {
    private static let width = 30
    private static let secondsBetweenDrawings = 0.1
    private static let secondsBetweenLines = 1.0
    /// Without a total there is no next tenth to wait for.
    private static let secondsBetweenLinesWithoutTotal = 10.0

    private struct State: Sendable {
        /// The first amount. It does not count for the rate, because an earlier run may have done it.
        let first: Int64
        let start: ContinuousClock.Instant
        var shownAt: ContinuousClock.Instant?
        var shownTenths: Int64 = -1
    }

    private let title: String
    private let isDrawn = Terminal.obeysEscapes(STDERR_FILENO)
    private let state = Mutex<State?>(nil)

    /// - Parameter title: the name of the task, for a command with several tasks
    init(_ title: String = "") { self.title = title }

    /// Shows nothing for a task that is done before the first line is due.
    /// - Parameters:
    ///   - done: values below 0 count as 0, values above the total as the total
    ///   - total: nil as long as it is not known
    func show(_ done: Int64, of total: Int64?) {
        let total = total.map { max(1, $0) }
        let (done, now) = (max(0, min(done, total ?? .max)), ContinuousClock.now)
        state.withLock { state in
            guard var shown = state else { return state = State(first: done, start: now) }
            let tenths = total.map { Int64(10 * Double(done) / Double($0)) } ?? shown.shownTenths + 1
            let pauseOfLines = total == nil ? Self.secondsBetweenLinesWithoutTotal : Self.secondsBetweenLines
            let pause = isDrawn ? Self.secondsBetweenDrawings : pauseOfLines
            let isDue = (now - (shown.shownAt ?? shown.start)) / .seconds(1) >= pause && (isDrawn || tenths > shown.shownTenths)
            guard isDue || (done == total && shown.shownAt != nil) else { return }
            (shown.shownAt, shown.shownTenths) = (now, tenths)
            let seconds = (now - shown.start) / .seconds(1)
            let line = Self.line(title, done, of: total, from: shown.first, seconds: seconds, isDrawn: isDrawn)
            // DECAWM is off meanwhile: a line that wraps would leave its beginning behind.
            write(isDrawn ? "\r\u{1B}[K\u{1B}[?7l\(line)\u{1B}[?7h" + (done == total ? "\n" : "") : line + "\n")
            state = done == total ? nil : shown
        }
    }

    /// Ends the line that was drawn last; for a task that ended early.
    func stop() {
        state.withLock { state in
            if isDrawn, state?.shownAt != nil { write("\n") }
            state = nil
        }
    }

    /// - Parameter isDrawn: whether the line has a bar
    static func line(
        _ title: String, _ done: Int64, of total: Int64?, from first: Int64 = 0, seconds: Double, isDrawn: Bool
    ) -> String {
        let rate = seconds > 0 ? (Double(done) - Double(first)) / seconds : 0
        let speed = rate >= 1 ? ", \(Figure.grouped(Int64(min(rate, 9e18)))) a second" : ""
        let name = title.isEmpty ? "" : "\(title): "
        guard let total else { return name + Figure.grouped(done) + speed }
        // As fractions: a file may announce any number.
        let filled = min(width, Int(Double(width) * Double(done) / Double(total)))
        let bar = isDrawn ? String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled) + " " : ""
        let left = (Double(total) - Double(done)) / rate
        let rest = rate > 0 && done < total ? ", \(Figure.duration(seconds: left.rounded(.up))) to go" : ""
        return name + bar + "\(Figure.grouped(done)) of \(Figure.grouped(total))" + speed + rest
    }

    private func write(_ text: String) { LogSink.standardError.write(text) }
}

extension ProgressBar {
    /// Shows the progress of a rebuild or a verification. Their last phases have no measure.
    func show(_ progress: ShadowProgress, _ output: Output) {
        switch progress.phase {
        case .loading: return show(progress.position, of: progress.tail)
        case .makingIndexes, .comparing: stop()
        }
        output.step(progress.phase == .comparing ? "Comparing." : "Making the indexes.")
    }
}
