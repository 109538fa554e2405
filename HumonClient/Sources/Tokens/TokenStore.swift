internal import Foundation

/// Keeps the secret that proves which device is calling.
///
/// The client calls a store from one task at a time. The tokens must outlive the app: without them a device is a new user.
public protocol TokenStore: Sendable {
    /// The stored tokens; `nil` if this device never signed up.
    /// - Throws: an error of the store, which ends the operation
    func load() throws -> DeviceTokens?

    /// Stores the tokens durably before it returns; `nil` forgets them.
    /// - Throws: an error of the store, which ends the operation
    func save(_ tokens: DeviceTokens?) throws
}

/// The tokens of this device. They are secrets.
public struct DeviceTokens: Sendable, Hashable, Codable {
    /// Proves which device is calling.
    public var current: String
    /// The token that replaces `current`, from before the request until its response.
    public var next: String?

    public init(current: String, next: String? = nil) {
        self.current = current
        self.next = next
    }
}

/// No token in a log.
extension DeviceTokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "DeviceTokens(hidden)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

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
