internal import Encoding
internal import EventStore
internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import Users

/// The requests of v1 that the peers serve, with the JSON of humon's responses.
struct EventRoutes: Sendable {
    /// The body limit of `humon serve`, in bytes.
    private static let bodyLimit = 64 * 1_024
    private static let contentType = "application/json; charset=utf-8"

    let events: EventsModule
    let users: UsersModule

    var router: Router<BasicRequestContext> {
        let router = Router()
        // As in the runs of humon, the log level drops the lines. Without a backend the metrics cost less than humon's.
        router.addMiddleware {
            LogRequestsMiddleware(.info)
            MetricsMiddleware()
            RequestIDs()
            Gzip()
        }
        router.get("/v1/events/nearests", use: nearest)
        router.get("/v1/events/{id}", use: event)
        router.post("/v1/events", use: create)
        return router
    }

    @Sendable private func event(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        let id = EventID(rawValue: try context.parameters.require("id", as: Int64.self))
        guard let event = events.indexView()?.event(id) else { throw HTTPError(.notFound) }
        events.countRead()
        var json = ByteBuffer()
        event.withJSON { _ = json.writeBytes($0) }
        return response(json, tag: "\(event.version)")
    }

    @Sendable private func nearest(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        let search = try NearestRequest(try JSON(query: (request.uri.query ?? "").utf8))
        let view = try await events.view()
        // As humon: a long search goes on in the threads of long searches.
        let found = if let page = view.findImmediately(search) { page } else { try await view.find(search) }
        guard found.count > 0 else { return response(ByteBuffer(string: #"{"message":"No Events Found"}"#), tag: "0") }
        return response(found.json, tag: "\(view.end.position)")
    }

    @Sendable private func create(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        guard let name = HTTPField.Name("tb-device-token"), let secret = request.headers[name] else {
            throw HTTPError(.unauthorized)
        }
        let body = try await request.body.collect(upTo: Self.bodyLimit)
        let details = try EventDetails(try JSON(utf8: Array(body.readableBytesView)), isStrict: false)
        guard let owner = try await users.user(of: DeviceToken(secret: secret)) else { throw HTTPError(.unauthorized) }
        let (id, _) = try await events.create(details, by: owner, context: CommandContext(requestID: context.id))
        return Response(
            status: .ok, headers: [.contentType: Self.contentType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: #"{"id":\#(id.rawValue)}"#)))
    }

    private func response(_ json: ByteBuffer, tag: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: Self.contentType, .cacheControl: "public, no-cache", .eTag: "\"\(tag)\""],
            body: ResponseBody(byteBuffer: json))
    }
}

extension RenderedEvents {
    /// The events, joined to a JSON array.
    fileprivate var json: ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(jsonBytes + count + 1)
        var separator = UInt8(ascii: "[")
        forEachJSON { json in
            buffer.writeInteger(separator)
            buffer.writeBytes(json)
            separator = UInt8(ascii: ",")
        }
        buffer.writeInteger(UInt8(ascii: "]"))
        return buffer
    }
}
