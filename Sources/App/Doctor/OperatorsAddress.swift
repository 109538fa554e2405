internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1

/// The operators' address of the server on HUMON_ADMIN_PORT, which the doctor asks.
struct OperatorsAddress: Sendable {
    /// A running server accepts connections immediately.
    private static let connectTimeout = TimeAmount.seconds(2)
    private static let answerLimitBytes = 1 << 20

    let settings: Settings

    var description: String { settings.adminAddress(port: settings.adminPort) }

    /// Waits for the response without a limit of its own.
    /// - Throws: an error of HTTPClient if no server answers
    func get(_ path: String) async throws -> (status: UInt, body: [UInt8]) {
        var configuration = HTTPClient.Configuration(timeout: .init(connect: Self.connectTimeout))
        // A refused connection means that no server listens there; a retry would only cost time.
        configuration.connectionPool.retryConnectionEstablishment = false
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            var request = HTTPClientRequest(url: description + path)
            if let token = settings.adminToken { request.headers.add(name: "authorization", value: "Bearer \(token)") }
            let response = try await client.execute(request, deadline: .distantFuture)
            let body = try await response.body.collect(upTo: Self.answerLimitBytes)
            return (response.status.code, Array(buffer: body))
        }
    }
}
