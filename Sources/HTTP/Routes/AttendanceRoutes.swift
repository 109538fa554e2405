internal import Attendances
internal import Encoding
internal import EventStore
internal import Events
internal import HTTPServer
internal import HTTPTypes
internal import Users

extension Module {
    public static let attendances = Module(
        .attendances, of: .events, make: { AttendancesModule($0) },
        routes: {
            AttendanceRoutes(attendances: $0, api: $1).all + AttendanceListRoutes(attendances: $0, api: $1).all
                + CalendarRoutes(attendances: $0, api: $1).all
        })
}

private struct AttendanceRoutes: Sendable {
    let attendances: AttendancesModule
    let api: API

    var all: [Route] {
        [
            Route(.post, "/v1/attendances", "createAttendance", createAttendance),
            Route(.put, "/v1/events/{id}/attendance", "attendEvent", attendEvent),
            Route(.delete, "/v1/events/{id}/attendance", "leaveEvent", leaveEvent),
        ]
    }

    private func createAttendance(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await change(request, context, of: { try attendedEvent($0["event"]?["id"]) }, attendances.attend)
    }

    private func attendEvent(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await change(request, context, of: { _ in EventID(rawValue: context.possibleID) }, attendances.attend)
    }

    /// The body says nothing. It counts for the idempotency key.
    private func leaveEvent(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await change(request, context, of: { _ in EventID(rawValue: context.possibleID) }, attendances.leave)
    }

    /// Carries out a command on the caller's attendance.
    private func change(
        _ request: Request, _ context: RequestContext, of event: (JSON) throws -> EventID,
        _ command: (EventID, UserID, CommandContext) async throws -> Int64
    ) async throws -> Response {
        let device = try api.requireDevice(request, context)
        let fields = try request.fields(allowing: [.json, .form])
        let event = try event(fields.json)
        let commandContext = request.commandContext(context, key: try request.idempotencyKey(fields))
        let position = try await api.withCaller(device, commandContext) { try await command(event, $0, $1) }
        return await api.response([:], recordedAt: position)
    }

    /// The event that the body names; 0, which no event has, for a number that no event can have.
    /// - Throws: `HTTPError.invalid(errors:)`
    private func attendedEvent(_ id: JSON?) throws(HTTPError) -> EventID {
        let pointer = "/event/id"
        switch id {
        case nil, .null: throw .invalid(errors: [.blank("event", at: pointer)])
        case .string(let text) where text.isBlank:
            throw .invalid(errors: [.blank("event", at: pointer)])
        case .string(let text), .number(let text):
            if let number = Int64(parsing: text) { return EventID(rawValue: number) }
            guard let number = Double(parsing: text), number.isInfinite || number.rounded() == number else {
                throw .invalid(errors: [.notANumber("event", at: pointer)])
            }
            return EventID(rawValue: Int64(exactly: number) ?? 0)
        case .bool, .array, .object: throw .invalid(errors: [.notANumber("event", at: pointer)])
        }
    }
}
