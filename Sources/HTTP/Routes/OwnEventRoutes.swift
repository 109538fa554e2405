internal import EventStore
internal import Events
internal import HTTPServer
internal import HTTPTypes

struct OwnEventRoutes: Sendable {
    let events: EventsModule
    let api: API

    var all: [Route] { [Route(.get, "/v1/users/me/events", "listOwnEvents", listOwnEvents)] }

    private func listOwnEvents(_ request: Request, _ context: RequestContext) async throws -> Response {
        // A query that cannot be read costs no lookup.
        _ = try request.queryFields()
        let caller = try await api.caller(request, context)
        let page = try request.page(maximum: EventsModule.ownEventsLimit) { text in
            EventID(stream: StreamName(category: EventDomainEvent.category, key: text))
        }
        let (events, next) = try await events.ownEvents(
            of: caller, after: page.after, limit: page.limit, atLeast: try await api.position(request))
        var response = Response(jsonBytes: events.json)
        if let next { response.addLink("/v1/users/me/events?limit=\(page.limit)&after=\(next.rawValue)") }
        return response
    }
}
