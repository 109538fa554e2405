import App
import Encoding
import EventStore
import HTTPTypes
import Logging
import NIOCore
import Postgres
import ServiceLifecycle
import TestDatabase
import TestFixture
import TestHTTP
import Testing
import Users

@testable import HTTP
@testable import HTTPServer
@testable import Web

extension Trait where Self == Fixture<TestPage> {
    /// The map page and the API without a socket: ``page``.
    static var page: Self { Self { try await TestPage.with(MapPage.Settings(), $0) } }
}

var page: TestPage { Fixture.current }

/// The map page and the API on a database of their own, as `humon serve` composes them.
struct TestPage: Sendable {
    let router: Router
    let log: LogReader

    struct Answer: Sendable {
        var status: Int
        var headers: HTTPFields
        var body: String

        /// The user in the body.
        var id: Int64? {
            if case .number(let digits)? = (try? JSON(utf8: body.utf8))?["id"] { Int64(digits) } else { nil }
        }
        var setCookie: String? { headers[.setCookie] }
        /// The cookie as the browser sends it back.
        var cookie: String? { setCookie.flatMap { $0.split(separator: ";").first.map(String.init) } }
    }

    static func with(
        _ settings: MapPage.Settings = MapPage.Settings(), _ body: @Sendable (TestPage) async throws -> Void
    ) async throws {
        let projections = StoredModule.all.projections
        try await TestDatabase.with(projections) { database in
            try await TestNode.run(
                database, projections: projections,
                // Without an index, because no test reads events.
                compose: { (ComposedModules(Module.all, in: $0), []) }
            ) { node in
                // A limit of a minute gives nothing back during a test.
                let start = ContinuousClock.now
                let api = API(
                    node.module, settings: API.Settings(appSecret: SharedSecret("secret")), rateClock: { start }, checkHealth: {})
                let page = MapPage(
                    settings, users: node.module[UsersModule.self], events: nil, tokenHeaders: API.tokenHeaders,
                    takeReturn: api.limits.takeReturn)
                let router = APIRouter(api, beside: page.routes, behind: page.middleware, logger: .quiet).router
                try await body(TestPage(router: router, log: node.reader))
            }
        }
    }

    func send(
        _ method: HTTPRequest.Method, _ target: String, host: String = "localhost:8080", _ headers: [String: String] = [:],
        body: String = "", scheme: Scheme = .http, from address: String = "127.0.0.1"
    ) async -> Answer {
        var fields = HTTPFields()
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        let head = HTTPRequest(method: method, scheme: scheme.rawValue, authority: host, path: target, headerFields: fields)
        let response = await router.respond(
            to: Request(head: head, body: ByteBuffer(string: body)),
            from: ConnectionInfo(NetworkAddress(address), scheme))
        return Answer(
            status: response.status.code, headers: response.headers, body: String(buffer: response.body))
    }

    /// Creates an event with the cookie of a session.
    func createEvent(host: String = "localhost:8080", cookie: String?, _ headers: [String: String], scheme: Scheme = .http) async
        -> Answer
    {
        var headers = headers
        headers["content-type"] = "application/json"
        headers["cookie"] = cookie
        return await send(
            .post, "/v1/events", host: host, headers,
            body: #"{"name":"Party","lat":52.52,"lon":13.4,"started_at":"2027-01-01T20:00:00Z"}"#, scheme: scheme)
    }

    /// The number of recorded events.
    func recorded() async throws -> Int { try await log.read(after: 0, limit: 100).count }
}

/// What a browser sends with a request of the page itself.
let ownPage = ["sec-fetch-site": "same-origin"]
