public import Foundation

/// A Humon server, as this device sees it.
///
/// An app makes one value for each server and keeps it. It may be used from every task. Each operation is one request, or more
/// after a failure that ``RetryPolicy`` covers. A cancelled task ends its request and the connection of it.
///
/// The client remembers the position of its last write and sends it with every read, so that each read shows the device's own
/// writes, whichever server answers.
///
/// Each operation throws ``HumonError``, `CancellationError`, or an error of the token store. Its page names the codes of
/// ``HumonError/refused(_:)`` that belong to it.
public final class HumonAPI: Sendable {
    /// How to reach a server.
    public struct Configuration: Sendable {
        /// The address before `/v1`, such as `https://humon.example.org`.
        public var server: URL
        /// Proves at a sign-up that the caller is the app.
        public var appSecret: String
        /// Keeps the token of this device.
        public var tokens: any TokenStore
        /// When the client repeats a request by itself.
        public var retries: RetryPolicy
        /// The time for one attempt, from the request to the last byte of the response. Streams have no such limit.
        public var timeout: Duration

        public init(
            server: URL, appSecret: String = "", tokens: any TokenStore, retries: RetryPolicy = .standard,
            timeout: Duration = .seconds(30)
        ) {
            self.server = server
            self.appSecret = appSecret
            self.tokens = tokens
            self.retries = retries
            self.timeout = timeout
        }
    }

    let requester: Requester
    let appSecret: String

    /// A client that sends nothing before its first operation.
    public convenience init(_ configuration: Configuration) {
        self.init(configuration) { try await Task.sleep(for: $0) }
    }

    /// - Parameter appSecret: needed by ``signUp()`` only
    public convenience init(server: URL, appSecret: String = "", tokens: any TokenStore) {
        self.init(Configuration(server: server, appSecret: appSecret, tokens: tokens))
    }

    /// - Parameter sleep: the pause between two attempts
    init(_ configuration: Configuration, sleep: @escaping Requester.Sleep) {
        requester = Requester(configuration, sleep: sleep)
        appSecret = configuration.appSecret
    }

    /// The OpenAPI document of the server, as JSON.
    /// - Throws: as ``HumonAPI`` says
    public func openAPIDocument() async throws -> Data { try await requester.send(.get("/v1/openapi.json", by: .nobody)).body }
}

extension HumonAPI.Configuration: CustomStringConvertible, CustomReflectable {
    /// Without the secret of the app.
    public var description: String { "HumonAPI.Configuration(\(server))" }
    public var customMirror: Mirror { Mirror(self, children: ["server": server]) }
}
