internal import Encoding
internal import Events
internal import HTTPServer
internal import HTTPTypes
internal import Hashing
internal import NIOCore

/// Events for calendar programs.
struct CalendarRoutes: Sendable {
    let events: EventsModule
    let api: API

    var all: [Route] {
        [
            Route(
                .get, "/v1/events.ics", "subscribeToEvents",
                immediately: { _, _ in api.settings.reads == .everyone ? .needsLongTask : .needsTask }, getArea),
            Route(.get, "/v1/events/{id}.ics", "getEventCalendar", getEvent),
        ]
    }

    private func getArea(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await api.requireReader(request, context)
        let area = try CalendarRequest(request.queryFields())
        let view = try await events.view(atLeast: try await api.position(request))
        let calendar = try await events.calendar(of: area)
        var response = response(
            calendar.iCalendar(name: "Humon", origin: api.settings.pageOrigin, source: request.target), to: request, view)
        response.headers[.robots] = "noindex"
        return response
    }

    private func getEvent(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await api.requireReader(request, context)
        let id = EventID(rawValue: try context.id())
        let view = try await events.view(atLeast: try await api.position(request))
        let calendar = try await events.calendar(of: id) { try await api.reader(request, context) }
        var response = response(
            calendar.iCalendar(name: nil, origin: api.settings.pageOrigin), to: request, view)
        response.headers[.contentDisposition] = "attachment; filename=\"event-\(id.rawValue).ics\""
        return response
    }

    private func response(_ bytes: [UInt8], to request: Request, _ view: EventsView) -> Response {
        let digest = Array(SHA256.hash(bytes)).withRawSpan { $0.load(Int64.self) }
        let tag = EntityTag(version: Int64(bigEndian: digest) & .max)
        var response =
            request.matchesIfNoneMatch(tag)
            ? Response(status: .notModified)
            : Response(headers: [.contentType: "text/calendar; charset=utf-8"], body: ByteBuffer(bytes: bytes))
        response.headers[.eTag] = tag.description
        response.setCacheControl(for: api.settings.reads)
        response.addAgeHeader(of: view)
        return response
    }
}

extension HTTPField.Name {
    /// For search engines: a feed is no page.
    fileprivate static let robots = HTTPField.Name(literal: "x-robots-tag")
}
