internal import Foundation

/// The name of one intent. The server carries out requests with one key once, however often it gets them.
///
/// Every write makes a key of its own, and sends it with each repetition. An app that wants to repeat a write itself, for example
/// after it was ended and started again, makes the key first, keeps it with the intent, and passes it each time.
public struct IdempotencyKey: RawRepresentable, Sendable, Hashable, Codable {
    /// 1 to 255 visible ASCII characters without a comma.
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// A new random key.
    public init() { rawValue = UUID().uuidString }
}
