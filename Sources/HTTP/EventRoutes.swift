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
        let token = try requireToken(request)
        let fields = try await request.fields(allowing: [.json, .form], limitBytes: settings.bodyLimitBytes)
        let details = try EventDetails(fields.json)
        let origin = request.origin(context, key: try request.idempotencyKey(fields))
        let owner = try await caller(token)
        let id = try await events.create(CreateEvent(details: details, owner: owner), origin: origin)
        return Response(json: ["id": JSON(id.rawValue)])
    }

    private func updateEvent(_ request: Request, _ context: APIContext) async throws -> Response {
        let token = try requireToken(request)
        let fields = try await request.fields(allowing: [.json, .form, .mergePatch], limitBytes: settings.bodyLimitBytes)
        let change: UpdateEvent.Change =
            switch fields.format {
            case .json, .form: .replace(try EventDetails(fields.json))
            case .mergePatch: .merge(try EventPatch(fields.json))
            }
        let origin = request.origin(context, key: try request.idempotencyKey(fields))
        let caller = try await caller(token)
        let command = UpdateEvent(
            id: try eventID(context), change: change, by: caller, condition: request.versionCondition
        )
        let id = try await events.update(command, origin: origin)
        return Response(json: ["id": JSON(id.rawValue)])
    }

    private func getEvent(_ request: Request, _ context: APIContext) async throws -> Response {
        try await requireReader(request)
        guard let event = try await events.event(try eventID(context)) else { throw Refusal.notFound }
        let (tag, condition) = (EntityTag(version: event.version), request.versionCondition)
        guard condition.matching.contains(event.version) else { throw Refusal.preconditionFailed }
        guard !condition.notMatching.contains(event.version) else {
            return Response(status: .notModified, headers: [.eTag: tag.description])
        }
        var response = Response(jsonBytes: ByteBuffer(bytes: event.jsonBytes))
        response.headers[.eTag] = tag.description
        return response
    }

    private func findNearestEvents(_ request: Request, _ context: APIContext) async throws -> Response {
        try await requireReader(request)
        let search = try NearbySearch(request.queryFields())
        let page = try await events.nearest(search)
        guard !page.events.isEmpty else { return Response(json: ["message": "No Events Found"]) }
        var response = Response(jsonBytes: ByteBuffer(bytes: page.events.jsonBytes))
        if let next = page.next { response.headers[.link] = "<\(search.path(after: next))>; rel=\"next\"" }
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

extension NearbySearch {
    /// Relative, since behind a proxy the server does not know its own address.
    fileprivate func path(after next: Cursor) -> String {
        "/v1/events/nearests?lat=\(centre.lat)&lon=\(centre.lon)&radius=\(radius)&limit=\(limit)&after=\(next)"
    }
}
