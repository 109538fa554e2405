internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Notation
internal import Users

extension API {
    var eventRoutes: [Route] {
        [
            Route(.post, "/v1/events", "createEvent", createEvent),
            Route(.get, "/v1/events/nearests", "findNearestEvents", findNearestEvents),
            Route(.get, "/v1/events/nearest", "findNearestEventsSingular", findNearestEvents),
            Route(.get, "/v1/events/{id}", "getEvent", getEvent),
            Route(.patch, "/v1/events/{id}", "updateEvent", updateEvent),
            Route(.put, "/v1/events/{id}", "replaceEvent", updateEvent),
        ]
    }

    private func createEvent(_ request: Request, _ context: APIContext) async throws -> Response {
        let writer = try requireWriter(request)
        let fields = try await request.fields(allowing: [.json, .form], limitBytes: settings.bodyLimitBytes)
        let details = try EventDetails(fields.json)
        let origin = request.origin(context, key: try request.idempotencyKey(fields))
        let owner = try await caller(writer.token)
        let (id, position) = try await events.create(CreateEvent(details: details, owner: owner), origin: origin)
        return Response(json: ["id": JSON(id.rawValue)]).recorded(at: position).telling(writer.allowance)
    }

    private func updateEvent(_ request: Request, _ context: APIContext) async throws -> Response {
        let writer = try requireWriter(request)
        let fields = try await request.fields(allowing: [.json, .form, .mergePatch], limitBytes: settings.bodyLimitBytes)
        let change: UpdateEvent.Change =
            switch fields.format {
            case .json, .form: .replace(try EventDetails(fields.json))
            case .mergePatch: .merge(try EventPatch(fields.json))
            }
        let origin = request.origin(context, key: try request.idempotencyKey(fields))
        let caller = try await caller(writer.token)
        let command = UpdateEvent(
            id: try eventID(context), change: change, by: caller, condition: request.versionCondition
        )
        let (id, position) = try await events.update(command, origin: origin)
        return Response(json: ["id": JSON(id.rawValue)]).recorded(at: position).telling(writer.allowance)
    }

    private func getEvent(_ request: Request, _ context: APIContext) async throws -> Response {
        try await requireReader(request)
        let id = try eventID(context)
        let reading = try await events.reading(since: try request.position())
        guard let event = try await reading.event(id) else { throw Refusal.notFound }
        let (tag, condition) = (EntityTag(version: Int64(event.version)), request.versionCondition)
        guard condition.matching.contains(event.version) else { throw Refusal.preconditionFailed }
        let isKnown = condition.notMatching.contains(event.version)
        var response = isKnown ? Response(status: .notModified) : Response(jsonBytes: event.withJSON { ByteBuffer(bytes: $0) })
        response.headers[.eTag] = tag.description
        response = response.kept(where: settings.reads)
        return event.isFromMemory ? response.read(from: reading) : response
    }

    private func findNearestEvents(_ request: Request, _ context: APIContext) async throws -> Response {
        try await requireReader(request)
        let search = try NearbySearch(request.queryFields())
        let reading = try await events.reading(since: try request.position())
        let response = try await response(to: search, request, reading).kept(where: settings.reads)
        return response.read(from: reading)
    }

    private func response(to search: NearbySearch, _ request: Request, _ reading: EventsReading) async throws -> Response {
        // While nothing is recorded anywhere, nothing has changed near a place; then there is nothing to look for.
        let tag = reading.position.map { EntityTag(version: $0).description }
        if let position = reading.position, request.knowsList(at: position) {
            return Response(status: .notModified, headers: tag.map { [.eTag: $0] } ?? [:])
        }
        let found = try await reading.nearest(search)
        let body = found.count > 0 ? found.json : ByteBuffer(string: #"{"message":"No Events Found"}"#)
        var response = Response(jsonBytes: body)
        response.headers[.eTag] = tag
        if let next = found.next { response.headers[.link] = "<\(search.path(after: next))>; rel=\"next\"" }
        return response
    }

    /// The event that the path names.
    /// - Throws: ``Refusal/notFound`` where that is no number
    private func eventID(_ context: APIContext) throws(Refusal) -> EventID {
        guard let text = context.parameter("id"), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text)
        else { throw .notFound }
        return EventID(rawValue: number)
    }
}

extension RenderedEvents {
    /// An array of them: what is rendered already, put together.
    fileprivate var json: ByteBuffer {
        let size = jsonBytes + count + 1
        var buffer = ByteBuffer()
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { output in
            var rest = UnsafeMutableRawBufferPointer(rebasing: output[..<size])
            forEachJSON { json in
                // A comma before each, the first of which becomes the bracket.
                rest[0] = UInt8(ascii: ",")
                UnsafeMutableRawBufferPointer(rebasing: rest[1...]).copyMemory(from: json)
                rest = UnsafeMutableRawBufferPointer(rebasing: rest[(json.count + 1)...])
            }
            rest[0] = UInt8(ascii: "]")
            output[0] = UInt8(ascii: "[")
            return size
        }
        return buffer
    }
}

extension NearbySearch {
    /// Relative, since behind a proxy the server does not know its own address.
    fileprivate func path(after next: Cursor) -> String {
        "/v1/events/nearests?lat=\(centre.lat)&lon=\(centre.lon)&radius=\(radius)&limit=\(limit)&after=\(next)"
    }
}
