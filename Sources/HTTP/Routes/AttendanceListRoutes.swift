internal import Attendances
internal import Encoding
internal import Events
internal import HTTPServer
internal import HTTPTypes
internal import NIOCore
internal import Users

/// The reads of attendances.
struct AttendanceListRoutes: Sendable {
    let attendances: AttendancesModule
    let api: API

    var all: [Route] {
        [
            Route(.get, "/v1/events/{id}/attendance", "getAttendance", getAttendance),
            Route(.get, "/v1/events/{id}/attendances", "listAttendees", listAttendees),
            Route(.get, "/v1/users/me/attendances", "listAttendances", listAttendances),
        ]
    }

    private func getAttendance(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await api.requireReader(request, context)
        let (id, position) = (EventID(rawValue: try context.id()), try await api.position(request))
        // A caller that sends a token asks about its user. So a dead token is an error, even if reads are public.
        let caller = request.deviceToken == nil ? nil : try await api.caller(request, context)
        _ = try await api.events.readEvent(id, atLeast: position) { caller }
        let summary = try await attendances.summary(of: id, for: caller, atLeast: position)
        return Response(json: ["count": JSON(summary.count), "attending": .bool(summary.isAttending)])
    }

    private func listAttendees(_ request: Request, _ context: RequestContext) async throws -> Response {
        let page = try request.page(maximum: AttendancesModule.maximumLimit) { text in
            Int64(text).flatMap { $0 > 0 ? UserID(rawValue: $0) : nil }
        }
        let caller = try await api.caller(request, context)
        let (id, position) = (EventID(rawValue: try context.id()), try await api.position(request))
        try await api.events.checkOwned(id, by: caller)
        let (users, next) = try await attendances.attendees(of: id, after: page.after, limit: page.limit, atLeast: position)
        var response = Response(json: .array(users.map { ["user": ["id": JSON($0.rawValue)]] }))
        if let next {
            response.addLink("/v1/events/\(id.rawValue)/attendances?limit=\(page.limit)&after=\(next.rawValue)")
        }
        return response
    }

    private func listAttendances(_ request: Request, _ context: RequestContext) async throws -> Response {
        let page = try request.page(maximum: AttendancesModule.maximumLimit) { AttendanceCursor($0) }
        let caller = try await api.caller(request, context)
        let (events, next) = try await attendances.events(
            attendedBy: caller, after: page.after, limit: page.limit, atLeast: try await api.position(request))
        var response = Response(jsonBytes: events.json)
        if let next { response.addLink("/v1/users/me/attendances?limit=\(page.limit)&after=\(next)") }
        return response
    }
}

extension [RenderedEvent] {
    /// The rendered events, joined to a JSON array.
    var json: ByteBuffer {
        let bytes = reduce(0) { $0 + $1.withJSON { $0.byteCount } }
        return ByteBuffer(jsonArrayOf: count, bytes: bytes) { append in for event in self { event.withJSON(append) } }
    }
}
