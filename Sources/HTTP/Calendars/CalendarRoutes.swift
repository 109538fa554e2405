internal import Attendances
internal import Encoding
internal import Events
internal import HTTPServer
internal import HTTPTypes
internal import Hashing
internal import NIOCore
internal import Users

/// Events for calendar programs.
struct CalendarRoutes: Sendable {
    /// The path of a feed that no page of another origin may read.
    static let ownPath = "/v1/calendars/{secret}.ics"

    let attendances: AttendancesModule
    let api: API

    /// Calendars of users that are made at a time: with the longest descriptions one takes 25 MB, and a thread for some tenths of a second.
    private let inFlight = InFlightRequests(waitingLimit: 4)
    private var events: EventsModule { api.events }

    var all: [Route] {
        [
            Route(
                .get, "/v1/events.ics", "subscribeToEvents",
                immediately: { _, _ in api.settings.reads == .everyone ? .needsLongTask : .needsTask }, getArea),
            Route(.get, "/v1/events/{id}.ics", "getEventCalendar", getEvent),
            Route(.get, Self.ownPath, "subscribeToOwnEvents", getOwn),
        ]
    }

    private func getArea(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await api.requireReader(request, context)
        let area = try CalendarRequest(request.queryFields())
        let view = try await events.view(atLeast: try await api.position(request))
        let calendar = try await events.calendar(of: area)
        var response = response(
            calendar.iCalendar(name: "Humon", origin: api.settings.pageOrigin, source: request.target), to: request, view,
            for: api.settings.reads)
        response.headers[.robots] = "noindex"
        return response
    }

    private func getEvent(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await api.requireReader(request, context)
        let id = EventID(rawValue: try context.id())
        let view = try await events.view(atLeast: try await api.position(request))
        let calendar = try await events.calendar(of: id) { try await api.reader(request, context) }
        var response = response(
            calendar.iCalendar(name: nil, origin: api.settings.pageOrigin), to: request, view, for: api.settings.reads)
        response.headers[.contentDisposition] = "attachment; filename=\"event-\(id.rawValue).ics\""
        return response
    }

    /// The address is the secret of a pass, which stands for a token, also where reads are for devices only.
    private func getOwn(_ request: Request, _ context: RequestContext) async throws -> Response {
        let secret = PassSecret(typed: String(context.parameter))
        try api.limits.calendarReads.take(secret.text)
        // Nobody guesses 122 bits. A limit of guesses would shut out all who read by one calendar service, from its few addresses.
        guard let user = try await api.users.user(ofCalendar: secret) else { throw HTTPError.notFound }
        guard inFlight.begin(.reading) else { throw HTTPError.overloaded }
        defer { inFlight.end(.reading) }
        let view = try await events.view()
        let calendar = try await attendances.calendar(of: user)
        let bytes = calendar.iCalendar(name: "Humon: my events", origin: api.settings.pageOrigin)
        var response = response(bytes, to: request, view, for: .devices)
        response.headers[.robots] = "noindex"
        return response
    }

    private func response(_ bytes: [UInt8], to request: Request, _ view: EventsView, for reads: API.Reads) -> Response {
        let tag = EntityTag(version: SHA256.hash(bytes).number)
        var response =
            request.matchesIfNoneMatch(tag)
            ? Response(status: .notModified)
            : Response(headers: [.contentType: "text/calendar; charset=utf-8"], body: ByteBuffer(bytes: bytes))
        response.headers[.eTag] = tag.description
        response.setCacheControl(for: reads)
        response.addAgeHeader(of: view)
        return response
    }
}

extension HTTPField.Name {
    /// For search engines: a feed is no page.
    fileprivate static let robots = HTTPField.Name(literal: "x-robots-tag")
}
