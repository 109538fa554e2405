internal import Foundation

/// How far a long work is, how fast it goes and how long it will take yet. On standard error: one line drawn anew on a terminal,
/// otherwise a line now and then.
struct ProgressBar {
    private static let width = 30
    private static let secondsBetweenDrawings = 0.1
    private static let secondsBetweenLines = 1.0

    private let title: String
    private var total: Int64
    /// Done before, by somebody else.
    private let first: Int64
    private let start = ContinuousClock.now
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private var shownAt: ContinuousClock.Instant?
    private var shownTenths: Int64 = -1
    private var isComplete = false

    /// - Parameters:
    ///   - title: what is worked on, where a command works on several things
    ///   - first: where the work goes on
    ///   - total: where it is known already
    init(_ title: String = "", from first: Int64 = 0, total: Int64 = 1) {
        self.title = title
        self.first = first
        self.total = max(1, total)
    }

    mutating func show(_ done: Int64, of total: Int64) {
        self.total = max(1, total)
        show(done)
    }

    /// Shows nothing of a work that is done before it was worth a word.
    /// - Parameter done: less than nothing is taken for nothing, more than the total for the total
    mutating func show(_ done: Int64) {
        let done = max(0, min(done, total))
        let (now, tenths) = (ContinuousClock.now, Int64(10 * Double(done) / Double(total)))
        let pause = isTerminal ? Self.secondsBetweenDrawings : Self.secondsBetweenLines
        let isDue = (now - (shownAt ?? start)) / .seconds(1) >= pause && (isTerminal || tenths > shownTenths)
        guard !isComplete, isDue || (done == total && shownAt != nil) else { return }
        (shownAt, shownTenths, isComplete) = (now, tenths, done == total)
        let line = Self.line(title, done, of: total, from: first, seconds: (now - start) / .seconds(1), isDrawn: isTerminal)
        write(isTerminal ? "\r\u{1B}[K\(line)" + (isComplete ? "\n" : "") : line + "\n")
    }

    /// Leaves the line that was drawn last where it is; for a work that ended early.
    mutating func stop() {
        if isTerminal, shownAt != nil, !isComplete { write("\n") }
        isComplete = true
    }

    /// - Parameter isDrawn: with a bar
    static func line(
        _ title: String, _ done: Int64, of total: Int64, from first: Int64 = 0, seconds: Double, isDrawn: Bool
    ) -> String {
        // As fractions: a file may announce any number.
        let filled = min(width, Int(Double(width) * Double(done) / Double(total)))
        let bar = isDrawn ? String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled) + " " : ""
        let figures = "\(Field.grouped(done)) of \(Field.grouped(total))"
        let rate = seconds > 0 ? (Double(done) - Double(first)) / seconds : 0
        let speed = rate >= 1 ? ", \(Field.grouped(Int64(min(rate, 9e18)))) a second" : ""
        let left = (Double(total) - Double(done)) / rate
        let rest = rate > 0 && done < total ? ", \(Field.duration(seconds: left.rounded(.up))) to go" : ""
        return (title.isEmpty ? "" : "\(title): ") + bar + figures + speed + rest
    }

    private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
