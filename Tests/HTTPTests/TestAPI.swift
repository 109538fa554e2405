import Accounts
import App
import Encoding
import EventStore
import Events
import Foundation
import HTTPTypes
import Hashing
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

extension Scrypt {
    /// Its keys are no protection.
    static let weak = Scrypt(logCost: 4, blockSize: 8, parallelism: 1)
}

extension Trait where Self == Fixture<TestAPI> {
    /// The API on a database of its own: ``api``. `TestAPI.with` has the other settings.
    static func api(
        _ setup: TestingSetup = .router, apps: Set<ServedApp> = .all, reads: API.Reads = .everyone, loadsIndex: Bool = true,
        adminToken: SharedSecret? = nil, patienceSeconds: Double = 1
    ) -> Self {
        Self { body in
            // The body ends before its server does.
            try await withoutActuallyEscaping(body) { body in
                try await TestAPI.with(
                    setup, apps: apps, reads: reads, loadsIndex: loadsIndex, adminToken: adminToken,
                    patienceSeconds: patienceSeconds, body)
            }
        }
    }
}

var api: TestAPI { Fixture.current }

/// The API on a database of its own, behind its HTTP interface.
struct TestAPI: Sendable {
    static let secret = "s3cret-of-the-app"
    /// The required fields of an event.
    static let required = #"{"name":"Later","lat":1.5,"lon":2.5,"started_at":"2014-01-01T00:00:00Z"}"#

    let client: TestClient
    /// Sends requests to the operators' address.
    let operators: TestClient
    let database: TestDatabase
    let log: LogReader
    /// Carries out the commands of operators, which no route has.
    let events: EventsModule
    let users: UsersModule
    let routes: [Route]
    let router: Router
    /// A second instance that gives the same responses. No test reads its counters.
    let twin: Router

    struct Answer: Sendable {
        var status: Int
        var headers: HTTPFields
        var bytes: [UInt8]

        /// The immediate response to the same request; `nil` if it needs a task.
        init?(immediately head: HTTPRequest, by router: Router) {
            guard case .response(var answer) = router.respondImmediately(to: Request(head: head), from: ConnectionInfo()) else {
                return nil
            }
            answer.setContentLengthHeader()
            (status, headers, bytes) = (answer.status.code, answer.headers, Array(answer.body.readableBytesView))
        }

        init(_ response: TestResponse) {
            status = response.status.code
            headers = response.headers
            bytes = Array(response.body.readableBytesView)
        }

        var body: String { String(decoding: bytes, as: UTF8.self) }
        /// Problem details have the id of their request.
        var bodyWithoutRequestID: String { body.replacing(header("x-request-id") ?? " ", with: "-") }
        func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }
        var json: JSON? { try? JSON(utf8: body.utf8) }
        var id: Int64? {
            if case .number(let digits) = json?["id"] { Int64(digits) } else { nil }
        }
    }

    static func with(
        _ setup: TestingSetup = .router, apps: Set<ServedApp> = .all, reads: API.Reads = .everyone,
        loadsIndex: Bool = true, indexBytes: Int = 1_000_000_000,
        signUpsPerMinute: Int = 0, signUpsPerDay: Int = 0, writesPerMinute: Int = 0,
        addressWritesPerMinute: Int = 0, eventsPerUser: Int = 0, cors: CORSOrigins = .none,
        adminToken: SharedSecret? = nil, signInsPerMinute: Int = 0, accountSignInsPerMinute: Int = 0,
        hasher: PasswordHasher = PasswordHasher(parameters: .weak), patienceSeconds: Double = 1,
        _ body: @escaping @Sendable (TestAPI) async throws -> Void
    ) async throws {
        let hasIndex = apps.contains(.events)
        let projections = StoredModule.all.projections
        try await TestDatabase.with(projections) { database in
            // The clock of the rate limits stands still: a busy machine may take seconds for a request.
            let start = ContinuousClock.now
            @Sendable func makeAPI(_ modules: ComposedModules, _ client: PostgresClient) -> API {
                var settings = API.Settings(appSecret: SharedSecret(secret))
                settings.reads = reads
                settings.pageOrigin = Origin("https://map.example.org")
                (settings.signUpsPerMinute, settings.signUpsPerDay) = (signUpsPerMinute, signUpsPerDay)
                (settings.signInsPerMinute, settings.accountSignInsPerMinute) = (signInsPerMinute, accountSignInsPerMinute)
                (settings.writesPerMinute, settings.addressWritesPerMinute) = (writesPerMinute, addressWritesPerMinute)
                return API(modules, settings: settings, rateClock: { start }, checkHealth: { try await client.query("SELECT 1") })
            }
            try await TestNode.run(
                database, projections: projections, sessionSettings: ["enable_seqscan": "off"],
                compose: { composition in
                    var own = Composition(
                        log: composition.log, database: composition.database, dependencies: .system,
                        modules: StoredModule.all, logger: .quiet)
                    var services: [any Service] = []
                    if hasIndex {
                        // Without heartbeats, so that tests can compare whole streams.
                        let changes = ChangeFeed(heartbeatSeconds: 86_400)
                        let index = InMemoryReadModel(
                            EventsInMemory(
                                limitBytes: indexBytes, eventsPerUser: eventsPerUser, render: { $0.writeJSON(into: &$1) },
                                listener: changes),
                            // A busy machine may not look at the log for seconds.
                            client: composition.database, notifier: composition[LogNotifier.self],
                            staleAfter: .seconds(3_600),
                            patienceSeconds: patienceSeconds, logger: .quiet)
                        composition.log.add(index)
                        own.add(index)
                        own.add(changes)
                        services = loadsIndex ? [changes, index] : [changes]
                    }
                    own.add(hasher)
                    let modules = ComposedModules(Module.all, serving: apps, in: own)
                    let twins = ComposedModules(Module.all, serving: apps, in: own)
                    let erasure = SubscriptionRunner(
                        ErasureSubscription(own), client: composition.database, notifier: composition[LogNotifier.self],
                        logger: .quiet)
                    return ((modules, twins), services + [erasure])
                }
            ) { node in
                let (modules, twins) = node.module
                let api = makeAPI(modules, node.client)
                let requests = APIRouter(api, allowing: cors, logger: .quiet)
                let admin = AdminResponder(api, token: adminToken, metrics: { requests.metrics }, logger: .quiet)
                if loadsIndex { await api.events.untilReady() }
                try await requests.router.test(setup) { client in
                    try await body(
                        TestAPI(
                            client: client, operators: .router(admin.router), database: database,
                            log: node.reader, events: api.events, users: api.users, routes: api.routes,
                            router: requests.router,
                            twin: APIRouter(makeAPI(twins, node.client), allowing: cors, logger: .quiet).router))
                }
            }
        }
    }

    /// Sends a request to the operators' address.
    func ask(_ path: String, _ method: HTTPRequest.Method = .get, authorization: String? = nil) async throws -> Answer {
        let headers: HTTPFields = authorization.map { [.authorization: $0] } ?? [:]
        return try await Answer(operators.send(method, path, headers: headers))
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, headers: [String: String] = [:], bytes: [UInt8]? = nil
    ) async throws -> Answer {
        var fields = HTTPFields()
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        let answer = Answer(
            try await client.send(method, path, headers: fields, body: bytes.map { ByteBuffer(bytes: $0) }))
        expectDocumented(method, path, answer)
        expectTheSameImmediately(
            HTTPRequest(method: method, scheme: nil, authority: nil, path: path, headerFields: fields), answer)
        return answer
    }

    /// Expects that the immediate handler, if it responds, gives the same response.
    private func expectTheSameImmediately(_ request: HTTPRequest, _ answer: Answer) {
        guard let immediate = Answer(immediately: request, by: twin),
            immediate.header("humon-position") == answer.header("humon-position")
        else { return }
        #expect(immediate.status == answer.status, "\(request)")
        #expect(immediate.bodyWithoutRequestID == answer.bodyWithoutRequestID, "\(request)")
        func headers(_ answer: Answer) -> [String] {
            // Each request has an id of its own and a time of its own, and the server adds the date. The ids differ in length.
            let hasID = answer.header("content-type") == "application/problem+json"
            let own: [HTTPField.Name] = [.xRequestID, .age, .date] + (hasID ? [.contentLength] : [])
            return answer.headers.filter { !own.contains($0.name) }.map { "\($0)" }.sorted()
        }
        #expect(headers(immediate) == headers(answer), "\(request)")
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, token: String? = nil, type: String = "application/json",
        _ body: String = "",
        headers: [String: String] = [:]
    ) async throws -> Answer {
        var headers = headers
        headers["accept"] = "application/json"
        headers["content-type"] = type
        if let token { headers["tb-device-token"] = token }
        return try await send(method, path, headers: headers, bytes: Array(body.utf8))
    }

    @discardableResult
    func signUp(_ token: String) async throws -> Answer {
        try await send(.post, "/v1/users", token: token, headers: ["tb-app-secret": Self.secret])
    }

    /// Creates an event of a new or known device.
    func createEvent(_ token: String = "owner", lat: Double = 37.76, lon: Double = -122.43, name: String = "Party") async throws
        -> Int64
    {
        try await signUp(token)
        let answer = try await send(
            .post, "/v1/events", token: token,
            #"{"name":"\#(name)","lat":\#(lat),"lon":\#(lon),"started_at":"2013-09-16T00:00:00.000Z","address":"85 2nd Street"}"#
        )
        guard let id = answer.id else { throw UnexpectedAnswer(answer: answer) }
        return id
    }

    /// Hides an event as an operator does.
    func hide(_ id: Int64) async throws {
        let reason = try HidingReason("Spam")
        _ = try await events.hide(EventID(rawValue: id), reason: reason, context: CommandContext(requestID: "test"))
    }

    struct UnexpectedAnswer: Error { var answer: Answer }
}

extension String {
    /// An entity tag without its mark.
    var unmarked: String { replacing(/\.[a-p]{8}/, with: "") }
}

let form = "application/x-www-form-urlencoded"
let mergePatch = "application/merge-patch+json"
let notFound = #"{"message":"Not Found"}"#
