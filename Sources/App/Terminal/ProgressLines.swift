internal import EventStore
internal import Foundation
internal import Synchronization
internal import Telemetry

/// The progress of a long task on standard error: how much is done, the rate, and the remaining time. There is a new line at most once a
/// second, and at most one for each tenth of the task.
final class ProgressLines: Sendable {
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
            let pause = total == nil ? Self.secondsBetweenLinesWithoutTotal : Self.secondsBetweenLines
            let isDue = (now - (shown.shownAt ?? shown.start)) / .seconds(1) >= pause && tenths > shown.shownTenths
            guard isDue || (done == total && shown.shownAt != nil) else { return }
            (shown.shownAt, shown.shownTenths) = (now, tenths)
            let seconds = (now - shown.start) / .seconds(1)
            LogSink.standardError.write(Self.line(title, done, of: total, from: shown.first, seconds: seconds) + "\n")
            state = done == total ? nil : shown
        }
    }

    static func line(_ title: String, _ done: Int64, of total: Int64?, from first: Int64 = 0, seconds: Double) -> String {
        let rate = seconds > 0 ? (Double(done) - Double(first)) / seconds : 0
        let speed = rate >= 1 ? ", \(Figure.grouped(Int64(min(rate, 9e18)))) a second" : ""
        let name = title.isEmpty ? "" : "\(title): "
        guard let total else { return name + Figure.grouped(done) + speed }
        // As fractions: a file may announce any number.
        let left = (Double(total) - Double(done)) / rate
        let rest = rate > 0 && done < total ? ", \(Figure.duration(seconds: left.rounded(.up))) to go" : ""
        return name + "\(Figure.grouped(done)) of \(Figure.grouped(total))" + speed + rest
    }

    /// Shows the progress of a rebuild or a verification. Their last phases have no measure.
    func show(_ progress: ShadowProgress, _ output: Output) {
        switch progress.phase {
        case .loading: return show(progress.position, of: progress.tail)
        case .makingIndexes, .comparing: state.withLock { $0 = nil }
        }
        output.step(progress.phase == .comparing ? "Comparing." : "Making the indexes.")
    }
}
