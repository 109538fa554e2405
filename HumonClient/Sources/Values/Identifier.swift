/// The number of an event or a user. The type of its subject keeps the ids of one kind out of places for another.
public struct Identifier<Subject>: RawRepresentable, Sendable, Hashable {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }
}

extension Identifier: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Int64) { rawValue = value }
}

extension Identifier: CustomStringConvertible {
    public var description: String { "\(rawValue)" }
}

extension Identifier: Comparable {
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// As JSON an id is a number.
extension Identifier: Codable {}
