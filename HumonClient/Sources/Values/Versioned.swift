/// A value together with its version, which makes a change conditional.
///
/// The members of the value are members of this type too: `party.name` is `party.value.name`.
@dynamicMemberLookup
public struct Versioned<Value: Sendable>: Sendable {
    public var value: Value
    public var version: Version

    public init(value: Value, version: Version) {
        self.value = value
        self.version = version
    }

    public subscript<Member>(dynamicMember member: KeyPath<Value, Member>) -> Member { value[keyPath: member] }
}

extension Versioned: Equatable where Value: Equatable {}

/// The version of an event, as its `ETag` names it.
public struct Version: RawRepresentable, Sendable, Hashable, Codable {
    /// An entity tag, with its quotes.
    public var rawValue: String

    /// The coding of a compressed response is no part of the version: `"5-gzip"` is `"5"`.
    public init(rawValue: String) {
        let coding = ["-zstd\"", "-gzip\""].first { rawValue.hasSuffix($0) }
        self.rawValue = coding.map { rawValue.dropLast($0.count) + "\"" } ?? rawValue
    }
}
