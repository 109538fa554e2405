internal import Encoding
internal import Foundation
internal import Synchronization

/// The value of `Date`, formatted once a second. Source: RFC 9110, section 5.6.7.
enum HTTPDate {
    private static let last = Mutex((second: 0, text: ""))

    static var now: String {
        let second = Int(Date().timeIntervalSince1970)
        return last.withLock { last in
            if last.second != second { last = (second, text(of: second)) }
            return last.text
        }
    }

    /// - Parameter second: since 1970
    static func text(of second: Int) -> String {
        let parts = Timestamp(milliseconds: Int64(second) * 1_000).description.split { "-T:.Z".contains($0) }
        let (weekday, month) = (weekdays[(second / 86_400) % 7], months[(Int(parts[1]) ?? 1) - 1])
        return "\(weekday), \(parts[2]) \(month) \(parts[0]) \(parts[3]):\(parts[4]):\(parts[5]) GMT"
    }

    /// The first day of 1970 was a Thursday.
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
