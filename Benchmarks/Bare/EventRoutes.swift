internal import Encoding
internal import EventStore
internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Users

/// Three routes of the v1 API for Hummingbird's router, with the JSON bytes and the headers of humon's responses.
struct EventRoutes: Sendable {
    /// The body limit of `humon serve`.
    private static let bodyLimitBytes = 64 * 1_024

    let events: EventsModule
    let users: UsersModule

    var router: Router<BasicRequestContext> {
        let router = Router()
        // As in the runs of humon, the log level drops the records. Without a backend, Hummingbird's metrics cost less than humon's.
        router.addMiddleware {
            LogRequestsMiddleware(.info)
            MetricsMiddleware()
            CORSMiddleware(allowOrigin: .none, allowHeaders: [.accept, .contentType], allowMethods: [.get, .post])
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
        let event: RenderedEvent
        if let indexed = events.indexView()?.indexedEvent(id) {
            events.countIndexRead()
            event = indexed
        } else {
            guard let found = try await events.view().event(id) else { throw HTTPError(.notFound) }
            event = found
        }
        let json = event.withJSON { bytes in
            var json = ByteBuffer()
            json.writeBytes(bytes)
            return json
        }
        return response(json, tag: "\"\(event.version)\"")
    }

    @Sendable private func nearest(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        let search = try NearbySearch(try JSON(query: (request.uri.query ?? "").utf8))
        let view: EventsView
        let found: RenderedEvents
        if let indexed = events.indexView(), let page = indexed.indexedNearest(search) {
            events.countIndexRead()
            (view, found) = (indexed, page)
        } else {
            view = try await events.view()
            found = try await view.nearest(search)
        }
        return response(
            found.count > 0 ? found.json : ByteBuffer(string: #"{"message":"No Events Found"}"#),
            tag: view.position.map { "\"\($0)\"" })
    }

    @Sendable private func create(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        guard let secret = request.headers[.deviceToken] else { throw HTTPError(.unauthorized) }
        let body = try await request.body.collect(upTo: Self.bodyLimitBytes)
        let details = try EventDetails(try JSON(utf8: Array(body.readableBytesView)))
        guard let owner = try await users.user(of: DeviceToken(secret: secret)) else { throw HTTPError(.unauthorized) }
        let (id, position) = try await events.create(
            CreateEvent(details: details, owner: owner), context: CommandContext(requestID: context.id))
        let json: JSON = ["id": JSON(id.rawValue)]
        return Response(
            status: .ok,
            headers: [
                .contentType: "application/json; charset=utf-8", .humonPosition: "\(position)", .cacheControl: "no-store",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json.utf8)))
    }

    private func response(_ json: ByteBuffer, tag: String?) -> Response {
        var headers: HTTPFields = [.contentType: "application/json; charset=utf-8", .cacheControl: "public, no-cache"]
        if let tag { headers[.eTag] = tag }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: json))
    }
}

extension RenderedEvents {
    /// The rendered events, joined to a JSON array.
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
