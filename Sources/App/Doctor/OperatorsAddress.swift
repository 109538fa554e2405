internal import HTTPServer
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
    /// - Throws: an error of SwiftNIO if no server answers; the errors of ``OutgoingRequest/response(within:bodyLimitBytes:)``
    func get(_ path: String) async throws -> (status: UInt, body: [UInt8]) {
        let request = OutgoingRequest(
            .GET, path, host: settings.adminHost, port: settings.adminPort,
            headers: HTTPHeaders(settings.adminToken.map { [("authorization", "Bearer \($0)")] } ?? []),
            connectTimeout: Self.connectTimeout)
        let response = try await request.response(bodyLimitBytes: Self.answerLimitBytes)
        return (response.head.status.code, Array(buffer: response.body))
    }
}
