internal import Encoding
internal import Events
internal import HTTPServer
internal import HTTPTypes
internal import NIOCore
internal import Users

extension Module {
    public static let events = Module(
        .events, of: .events, make: { EventsModule($0) { $0.writeJSON(into: &$1) } },
        metrics: { $0.indexMetrics + $0.changeStatus.metrics },
        routes: {
            EventRoutes(events: $0, api: $1).all + EventSearchRoutes(events: $0, api: $1).all
                + EventChangeRoutes(events: $0, api: $1).all + OwnEventRoutes(events: $0, api: $1).all
        })
}

private struct EventRoutes: Sendable {
    let events: EventsModule
    let api: API

    var all: [Route] {
        [
            Route(.post, "/v1/events", "createEvent", createEvent),
            Route(.get, "/v1/events/{id}", "getEvent", immediately: getEventFromIndex, getEvent),
            Route(.patch, "/v1/events/{id}", "updateEvent", updateEvent),
            Route(.put, "/v1/events/{id}", "replaceEvent", updateEvent),
            Route(.delete, "/v1/events/{id}", "cancelEvent", cancelEvent),
        ]
    }

    private func createEvent(_ request: Request, _ context: RequestContext) async throws -> Response {
        let device = try api.requireDevice(request, context)
        let fields = try request.fields(allowing: [.json, .form])
        let details = try EventDetails(fields.json, isStrict: request.wantsProblemDetails)
        let commandContext = request.commandContext(context, key: try request.idempotencyKey(fields))
        let (id, position) = try await api.withCaller(device, commandContext) { owner, context in
            try await events.create(details, by: owner, context: context)
        }
        return await api.response(["id": JSON(id.rawValue)], recordedAt: position)
    }

    private func updateEvent(_ request: Request, _ context: RequestContext) async throws -> Response {
        let device = try api.requireDevice(request, context)
        let fields = try request.fields(allowing: [.json, .form, .mergePatch])
        let patch =
            switch fields.format {
            case .json, .form: try EventPatch(replacing: fields.json, isStrict: request.wantsProblemDetails)
            case .mergePatch: try EventPatch(fields.json)
            }
        let commandContext = request.commandContext(context, key: try request.idempotencyKey(fields))
        let id = EventID(rawValue: context.possibleID)
        let updated = try await api.withCaller(device, commandContext) { caller, context in
            try await events.update(
                id, patch, by: caller, if: request.versionCondition, context: context)
        }
        var response = await api.response(["id": JSON(id.rawValue)], recordedAt: updated.position)
        // PUT has none: the server stores the body in a form of its own. Source: RFC 9110, section 9.3.4.
        if request.method == .patch, let version = updated.version { response.headers[.eTag] = EntityTag(version).description }
        return response
    }

    private func cancelEvent(_ request: Request, _ context: RequestContext) async throws -> Response {
        let device = try api.requireDevice(request, context)
        // The body says nothing. It counts for the idempotency key.
        let fields = try request.fields(allowing: [.json, .form])
        let commandContext = request.commandContext(context, key: try request.idempotencyKey(fields))
        let id = EventID(rawValue: context.possibleID)
        let (_, position) = try await api.withCaller(device, commandContext) { caller, context in
            try await events.cancel(id, by: caller, if: request.versionCondition, context: context)
        }
        return await api.response(["id": JSON(id.rawValue)], recordedAt: position)
    }

    private func getEvent(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await api.requireReader(request, context)
        let id = EventID(rawValue: try context.id())
        let position = try await api.position(request)
        do {
            let (event, view) = try await events.readEvent(
                id, atLeast: position, for: { try await api.reader(request, context) }, whole: { try !isKnown($0, to: request) })
            return try response(event, to: request, view)
        } catch EventRejection.cancelled where request.wantsProblemDetails {
            var error = HTTPError(EventRejection.cancelled)
            if let json = try await events.cancelledEvent(id) {
                error.extensions = JSONObject(members: [.init(name: "event", value: try JSON(utf8: json))])
            }
            throw error
        }
    }

    private func getEventFromIndex(_ request: Request, _ context: RequestContext) throws -> ImmediateResponse {
        guard api.settings.reads == .everyone else { return .needsTask }
        let id = EventID(rawValue: try context.id())
        guard let view = try api.indexView(for: request), let event = view.event(id),
            try event.isWhole || isKnown(event.markedVersion, to: request)
        else { return .needsTask }
        events.countRead()
        return .response(try response(event, to: request, view))
    }

    private func response(
        _ event: RenderedEvent, to request: Request, _ view: EventsView
    ) throws(HTTPError) -> Response {
        let version = event.markedVersion
        var response =
            try isKnown(version, to: request)
            ? Response(status: .notModified) : Response(jsonBytes: event.withJSON { ByteBuffer($0) })
        response.headers.append(HTTPField(name: .eTag, value: EntityTag(version).description))
        response.setCacheControl(for: api.settings.reads)
        response.addAgeHeader(of: view)
        return response
    }

    /// Whether the client has this version.
    /// - Throws: `HTTPError.preconditionFailed` if the client asks for another version
    private func isKnown(_ version: EventVersion, to request: Request) throws(HTTPError) -> Bool {
        let condition = request.versionCondition
        guard condition.matching.contains(version) else { throw .preconditionFailed }
        return condition.notMatching.contains(version)
    }
}

extension EntityTag {
    fileprivate init(_ version: EventVersion) { self.init(version: Int64(version.number), mark: version.mark) }
}
