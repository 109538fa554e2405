/// The number that names a stream of one category: `event-12`.
public protocol StreamID: RawRepresentable, Hashable, Sendable where RawValue == Int64 {
    static var category: String { get }

    init(rawValue: Int64)
}

extension StreamID {
    package var stream: StreamName { StreamName(category: Self.category, key: String(rawValue)) }

    /// `nil` for a stream of another category, and for a key that ``stream`` does not write.
    package init?(stream: StreamName) {
        guard stream.category == Self.category, let number = stream.keyAsID else { return nil }
        self.init(rawValue: number)
    }
}
