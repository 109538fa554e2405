public import Encoding

/// One value of an operator report. The case says what the value means; a renderer chooses the text.
public enum ReportValue: Sendable, Hashable {
    case none
    case text(String)
    case flag(Bool)
    /// A number that names a thing: a position, a version, an id.
    case number(Int64)
    /// A number of things.
    case count(Int64)
    case bytes(Int64)
    /// A figure with a fraction, such as events per second.
    case rate(Double)
    case seconds(Double)
    case time(Timestamp)
    case json(JSON)
    /// A word for the state of a thing.
    case state(Health, String)

    public enum Health: Sendable, Hashable {
        case good
        case doubtful
        case bad
    }

    /// A figure that is not finite is null.
    public var json: JSON {
        switch self {
        case .none: .null
        case .text(let text), .state(_, let text): .string(text)
        case .flag(let value): .bool(value)
        case .number(let value), .count(let value), .bytes(let value): JSON(value)
        case .rate(let value), .seconds(let value): value.isFinite ? JSON(value) : .null
        case .time(let time): .string(time.description)
        case .json(let json): json
        }
    }
}

/// A column of an operator report.
public struct ReportColumn: Sendable, Hashable {
    /// What the values of a column mean, as the cases of ``ReportValue`` of the same names.
    public enum Kind: Sendable, Hashable {
        case text, flag, number, count, bytes, rate, seconds, time, json, state
    }

    /// How much a reader without a wish of his own needs the column.
    public enum Rank: Sendable, Hashable {
        case main
        /// A renderer without room leaves the column out before others.
        case side
        /// For programs, and for people who name the column.
        case detail
    }

    /// As in JSON: `recorded_at`.
    public let name: String
    public let kind: Kind
    public let rank: Rank
    /// The usual number of characters of a value, so that later rows are aligned with the first ones; 0 if it is unknown.
    public let length: Int
}

/// A column and the value that a row has in it. The makers tie the kind of the column to the type of its values.
public struct RowColumn<Row>: Sendable {
    public let column: ReportColumn
    public let value: @Sendable (Row) -> ReportValue

    private init(
        _ name: String, _ kind: ReportColumn.Kind, _ rank: ReportColumn.Rank = .main, length: Int = 0,
        _ value: @escaping @Sendable (Row) -> ReportValue?
    ) {
        column = ReportColumn(name: name, kind: kind, rank: rank, length: length)
        self.value = { value($0) ?? .none }
    }

    public static func text(
        _ name: String, _ rank: ReportColumn.Rank = .main, length: Int = 0, _ value: @escaping @Sendable (Row) -> String?
    ) -> Self { Self(name, .text, rank, length: length) { value($0).map { .text($0) } } }

    public static func number(
        _ name: String, _ rank: ReportColumn.Rank = .main, length: Int = 0, _ value: @escaping @Sendable (Row) -> Int64?
    ) -> Self { Self(name, .number, rank, length: length) { value($0).map { .number($0) } } }

    public static func time(
        _ name: String, _ rank: ReportColumn.Rank = .main, _ value: @escaping @Sendable (Row) -> Timestamp?
    ) -> Self { Self(name, .time, rank) { value($0).map { .time($0) } } }

    public static func flag(_ name: String, _ value: @escaping @Sendable (Row) -> Bool) -> Self {
        Self(name, .flag) { .flag(value($0)) }
    }

    public static func count(_ name: String, _ value: @escaping @Sendable (Row) -> Int64) -> Self {
        Self(name, .count) { .count(value($0)) }
    }

    public static func bytes(_ name: String, _ value: @escaping @Sendable (Row) -> Int64) -> Self {
        Self(name, .bytes) { .bytes(value($0)) }
    }

    public static func rate(_ name: String, _ value: @escaping @Sendable (Row) -> Double?) -> Self {
        Self(name, .rate) { value($0).map { .rate($0) } }
    }

    public static func seconds(_ name: String, _ value: @escaping @Sendable (Row) -> Double?) -> Self {
        Self(name, .seconds) { value($0).map { .seconds($0) } }
    }

    public static func json(_ name: String, _ value: @escaping @Sendable (Row) -> JSON?) -> Self {
        Self(name, .json) { value($0).map { .json($0) } }
    }

    public static func state(_ name: String, _ value: @escaping @Sendable (Row) -> (ReportValue.Health, String)) -> Self {
        Self(name, .state) { row in
            let (health, word) = value(row)
            return .state(health, word)
        }
    }
}
