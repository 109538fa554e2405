public import Encoding

/// A parameter of an operator report. A renderer asks for its text: as an option on a command line, as a field of a form.
public struct ReportParameter: Sendable {
    public enum Kind: Sendable {
        case text
        case number(ClosedRange<Int64>)
        /// RFC 3339, a date in UTC, or an age such as `2h`.
        case time
        /// One of these words.
        case word([String])
        case flag
    }

    public let name: String
    public let kind: Kind
    /// A sentence for the operator.
    public let help: String
    /// A word for the value, such as `user id`.
    public let label: String
    /// The text that counts if the operator gives none.
    public let usual: String?

    public init(_ name: String, _ kind: Kind, label: String? = nil, usual: String? = nil, _ help: String) {
        (self.name, self.kind, self.label, self.usual, self.help) = (name, kind, label ?? name, usual, help)
    }

    public static let timeHelp = "RFC 3339, a date (2026-11-21, in UTC), or an age (90s, 30m, 2h, 7d)."

    /// - Throws: ``ReportArgumentError`` if the text is no value of this kind
    fileprivate func check(_ text: String, now: Timestamp) throws(ReportArgumentError) {
        switch kind {
        case .text:
            guard !text.isEmpty else { throw ReportArgumentError("The \(name) must not be empty.") }
        case .number(let range):
            guard let number = Int64(text), range.contains(number) else {
                let end = range.upperBound == .max ? "" : " to \(range.upperBound)"
                throw ReportArgumentError("The \(name) must be a whole number from \(range.lowerBound)\(end).")
            }
        case .time:
            guard Self.time(text, now: now) != nil else {
                throw ReportArgumentError("\(text) is no time: write 2026-11-21T16:43:00Z, 2026-11-21, or 2h for two hours ago.")
            }
        case .word(let words):
            guard words.contains(text) else {
                throw ReportArgumentError("There is no \(name) \(text). Known: \(words.joined(separator: ", ")).")
            }
        case .flag: break
        }
    }

    fileprivate static func time(_ text: String, now: Timestamp) -> Timestamp? {
        if let time = Timestamp(rfc3339: text) ?? Timestamp(rfc3339: "\(text)T00:00:00Z") { return time }
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        // At most ten digits, so that the product cannot overflow.
        guard let unit = text.last.flatMap({ units[$0] }), (2...11).contains(text.count),
            text.utf8.dropLast().allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int64(text.dropLast())
        else { return nil }
        return max(.earliest, Timestamp(milliseconds: now.milliseconds - number * unit * 1_000))
    }
}

/// The text of an argument is unusable.
public struct ReportArgumentError: Error, Hashable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

/// The arguments of one run of a report, checked against its parameters.
public struct ReportArguments: Sendable {
    private var checked: [String: [String]] = [:]
    private let now: Timestamp

    /// - Parameters:
    ///   - texts: by the name of the parameter; a flag is on if it has any text
    ///   - now: the time that ages count from
    /// - Throws: ``ReportArgumentError``
    public init(
        _ texts: [String: [String]], for parameters: [ReportParameter], now: Timestamp = Dependencies.system.now()
    ) throws(ReportArgumentError) {
        self.now = now
        for parameter in parameters {
            let given = texts[parameter.name] ?? []
            for text in given.isEmpty ? parameter.usual.map({ [$0] }) ?? [] : given {
                try parameter.check(text, now: now)
                checked[parameter.name, default: []].append(text)
            }
        }
    }

    func texts(_ name: String) -> [String] { checked[name] ?? [] }

    func text(_ name: String) -> String? { checked[name]?.first }

    func number(_ name: String) -> Int64? { text(name).flatMap { Int64($0) } }

    func time(_ name: String) -> Timestamp? { text(name).flatMap { ReportParameter.time($0, now: now) } }

    func isSet(_ name: String) -> Bool { checked[name] != nil }
}
