internal import ArgumentParser
internal import Encoding
internal import EventStore

/// A moment on the command line.
enum TimeArgument {
    static let help = "RFC 3339, a date (2026-11-21, in UTC), or an age (90s, 30m, 2h, 7d)."

    /// - Throws: `ValidationError`
    @Sendable static func parse(_ text: String) throws -> Timestamp { try parse(text, now: Dependencies.system.now()) }

    /// - Throws: `ValidationError`
    static func parse(_ text: String, now: Timestamp) throws -> Timestamp {
        if let time = Timestamp(rfc3339: text) ?? Timestamp(rfc3339: "\(text)T00:00:00Z") { return time }
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        // At most ten digits, so that the product cannot overflow.
        if let unit = text.last.flatMap({ units[$0] }), (2...11).contains(text.count),
            text.utf8.dropLast().allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int64(text.dropLast())
        {
            return max(.earliest, Timestamp(milliseconds: now.milliseconds - number * unit * 1_000))
        }
        throw ValidationError("\(harmless(text)) is no time: write 2026-11-21T16:43:00Z, 2026-11-21, or 2h for two hours ago.")
    }
}

/// The maximum number of printed rows, on the command line.
enum LimitArgument {
    static let range = 1...10_000

    /// - Throws: `ValidationError`
    @Sendable static func parse(_ text: String) throws -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw ValidationError("The limit must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}
