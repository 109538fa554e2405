internal import Foundation

/// The progress of a long task on standard error: how much is done, the rate, and the remaining time. A terminal gets one line that
/// is drawn again and again; any other reader gets a new line at most once a second.
struct ProgressBar {
    private static let barWidth = 30
    private static let narrowestBar = 5
    private static let secondsBetweenDrawings = 0.1
    private static let secondsBetweenLines = 1.0

    private let title: String
    private var total: Int64
    /// The amount that an earlier run did, which does not count for the rate.
    private let first: Int64
    private let start = ContinuousClock.now
    private let width: Int?
    private let isDrawn: Bool
    private var shownAt: ContinuousClock.Instant?
    private var shownTenths: Int64 = -1
    private var isComplete = false

    /// - Parameters:
    ///   - title: the name of the task, for a command with several tasks
    ///   - first: the amount that an earlier run did
    ///   - total: the whole amount, if the command knows it already
    init(_ title: String = "", from first: Int64 = 0, total: Int64 = 1, terminal: Terminal = .error) {
        self.title = title
        self.first = first
        self.total = max(1, total)
        (width, isDrawn) = (terminal.width, terminal.obeysEscapes)
    }

    mutating func show(_ done: Int64, of total: Int64) {
        self.total = max(1, total)
        show(done)
    }

    /// Shows nothing for a task that is done before the first line is due.
    /// - Parameter done: values below 0 count as 0, values above the total as the total
    mutating func show(_ done: Int64) {
        let done = max(0, min(done, total))
        let (now, tenths) = (ContinuousClock.now, Int64(10 * Double(done) / Double(total)))
        let pause = isDrawn ? Self.secondsBetweenDrawings : Self.secondsBetweenLines
        let isDue = (now - (shownAt ?? start)) / .seconds(1) >= pause && (isDrawn || tenths > shownTenths)
        guard !isComplete, isDue || (done == total && shownAt != nil) else { return }
        (shownAt, shownTenths, isComplete) = (now, tenths, done == total)
        let line = Self.line(
            title, done, of: total, from: first, seconds: (now - start) / .seconds(1), isDrawn: isDrawn, width: width)
        write(isDrawn ? "\r\u{1B}[K\(line)" + (isComplete ? "\n" : "") : line + "\n")
    }

    /// Ends the line that was drawn last; for a task that ended early.
    mutating func stop() {
        if isDrawn, shownAt != nil, !isComplete { write("\n") }
        isComplete = true
    }

    /// - Parameters:
    ///   - isDrawn: whether the line has a bar
    ///   - width: the width of the terminal; `nil`: the line may have any length
    static func line(
        _ title: String, _ done: Int64, of total: Int64, from first: Int64 = 0, seconds: Double, isDrawn: Bool,
        width: Int? = nil
    ) -> String {
        let figures = "\(Figure.grouped(done)) of \(Figure.grouped(total))"
        let rate = seconds > 0 ? (Double(done) - Double(first)) / seconds : 0
        let speed = rate >= 1 ? ", \(Figure.grouped(Int64(min(rate, 9e18)))) a second" : ""
        let left = (Double(total) - Double(done)) / rate
        let rest = rate > 0 && done < total ? ", \(Figure.duration(seconds: left.rounded(.up))) to go" : ""
        let (start, end) = (title.isEmpty ? "" : "\(title): ", figures + speed + rest)
        // A line that fills the last column would make the terminal wrap, and leave the old line behind.
        let room = width.map { $0 - 1 } ?? .max
        let barWidth = isDrawn ? min(Self.barWidth, room - (start + end).displayWidth - 1) : 0
        return (start + bar(done, of: total, width: barWidth) + end).cut(toWidth: room)
    }

    private static func bar(_ done: Int64, of total: Int64, width: Int) -> String {
        guard width >= narrowestBar else { return "" }
        // As fractions: a file may announce any number.
        let filled = min(width, Int(Double(width) * Double(done) / Double(total)))
        return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled) + " "
    }

    private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
