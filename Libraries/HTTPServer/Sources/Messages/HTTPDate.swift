internal import Foundation
internal import Synchronization

/// The value of `Date`, formatted once a second. Source: RFC 9110, section 5.6.7.
enum HTTPDate {
    private static let last = Mutex((second: 0, text: ""))

    static var now: String {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return last.withLock { last in
            if last.second != time.tv_sec { last = (time.tv_sec, text(of: time.tv_sec)) }
            return last.text
        }
    }

    /// - Parameter second: since 1970
    static func text(of second: Int) -> String {
        var (second, parts) = (second, tm())
        gmtime_r(&second, &parts)
        var bytes = [CChar](repeating: 0, count: 64)
        // strftime writes English names as long as the program does not call setlocale.
        let length = strftime(&bytes, bytes.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        return String(decoding: bytes.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
