internal import Foundation

/// Keeps the tokens until the process ends, for tests and previews.
///
/// `@unchecked`: the lock protects the tokens.
public final class MemoryTokenStore: TokenStore, @unchecked Sendable {
    private let lock = NSLock()
    private var tokens: DeviceTokens?

    public init(_ tokens: DeviceTokens? = nil) { self.tokens = tokens }

    public func load() -> DeviceTokens? { lock.withLock { tokens } }

    public func save(_ tokens: DeviceTokens?) { lock.withLock { self.tokens = tokens } }
}
