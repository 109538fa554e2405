internal import Foundation

/// The tokens of this device in memory, and the only caller of the store.
actor DeviceIdentity {
    private let store: any TokenStore
    private var loaded: DeviceTokens?

    init(store: any TokenStore) { self.store = store }

    /// The stored tokens, from memory if they were read before.
    func tokens() throws -> DeviceTokens? {
        if loaded == nil { loaded = try store.load() }
        return loaded
    }

    /// The stored tokens, which another process may have changed.
    func reloadedTokens() throws -> DeviceTokens? {
        loaded = try store.load()
        return loaded
    }

    /// The token to sign up with. It is stored before the first request, so that a repetition after a crash is the same user.
    func tokenForSignUp() throws -> String {
        if let tokens = try tokens() { return tokens.current }
        let new = DeviceTokens(current: Self.randomToken())
        try save(new)
        return new.current
    }

    /// The present token and the one that replaces it, stored before the first request.
    func tokensForRotation() throws -> (current: String, next: String) {
        guard var tokens = try tokens() else { throw HumonError.notSignedUp }
        if let next = tokens.next { return (tokens.current, next) }
        let next = Self.randomToken()
        tokens.next = next
        try save(tokens)
        return (tokens.current, next)
    }

    /// The token to come back with, stored before the first request. Until the response the device keeps its present token.
    /// - Parameter used: the token that the server refuses because it was replaced already; `nil` at the first attempt
    func tokenForReturn(insteadOf used: String? = nil) throws -> String {
        let current = try tokenForSignUp()
        if let used, try tokens()?.next == used { try save(DeviceTokens(current: current)) }
        return try tokensForRotation().next
    }

    /// - Parameter token: the token that a rotation or a return made valid
    func finishRotation(to token: String) throws {
        guard try tokens()?.next == token else { return }
        try save(DeviceTokens(current: token))
    }

    func forget() throws { try save(nil) }

    private func save(_ tokens: DeviceTokens?) throws {
        try store.save(tokens)
        loaded = tokens
    }

    /// 122 random bits.
    private static func randomToken() -> String { UUID().uuidString.lowercased() }
}
