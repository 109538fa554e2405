internal import EventStore
internal import Events
internal import HTTPServer
internal import HTTPTypes
internal import Users

/// The changes of an area as a stream of server-sent events.
struct EventChangeRoutes: Sendable {
    /// Number of positions by which no node is behind its log: 71 seconds of 14,000 writes a second. A position further ahead costs no
    /// query.
    private static let aheadLimit: Int64 = 1_000_000

    let events: EventsModule
    let api: API

    var all: [Route] {
        [Route(.get, "/v1/events/changes", "followChanges", immediately: followFromRing, follow)]
    }

    /// Responds with a stream if this node has reached its first position, and knows that it is one of this log.
    private func followFromRing(_ request: Request, _ context: RequestContext) throws -> ImmediateResponse {
        guard api.settings.reads == .everyone else { return .needsTask }
        let search = try search(request)
        let end = try end()
        guard let since = search.since else { return .response(stream(search, after: end, end)) }
        guard since.position <= end.position, let own = api.users.rememberedCursor(at: since.position) else { return .needsTask }
        return .response(stream(search, after: own.agrees(with: since) ? own : nil, end))
    }

    private func follow(_ request: Request, _ context: RequestContext) async throws -> Response {
        let reader = try await reader(request, context)
        let search = try search(request)
        var after: LogCursor? = try end()
        if let since = search.since, let end = after {
            // A cursor that the log does not have belongs to a history that was lost, for example in a fail-over.
            let isNear = since.position - end.position <= Self.aheadLimit
            after = isNear ? try await api.users.cursor(at: since.position).flatMap { $0.agrees(with: since) ? $0 : nil } : nil
        }
        return stream(search, after: after, try end(), of: reader)
    }

    /// A reader of a stream that needs a token: the token's user, and a moment before the token was looked up.
    private typealias Reader = (user: UserID, mark: TokenEndings.Mark, endings: TokenEndings)

    /// - Returns: `nil` if everyone may read
    /// - Throws: `HTTPError.unauthorized`, `HTTPError.unavailable(_:)`, `PostgresError`
    private func reader(_ request: Request, _ context: RequestContext) async throws -> Reader? {
        switch api.settings.reads {
        case .everyone: return nil
        case .devices:
            let (endings, mark) = (events.tokenEndings, events.tokenEndings?.mark)
            let user = try await api.caller(request, context)
            guard let endings, let mark else { throw HTTPError.unavailable(.indexNotInUse) }
            return (user, mark, endings)
        }
    }

    /// - Throws: `HTTPError.badRequest(_:code:)`, `EventRejection`
    private func search(_ request: Request) throws -> ChangeSearch {
        var search = try ChangeSearch(request.queryFields())
        // A browser sends it when it connects again. Source: WHATWG *HTML*, section 9.2.
        if request.headers.value(of: .lastEventID)?.isEmpty == false {
            search.since = try request.cursor(in: .lastEventID, "Last-Event-ID")
        }
        return search
    }

    /// - Throws: `HTTPError.unavailable(_:)` while the node drains, without an index in use, and while too many streams begin
    private func end() throws(HTTPError) -> LogCursor {
        guard !api.drain.hasBegun else { throw .unavailable(.stopping) }
        guard let end = events.changesCursor else { throw .unavailable(.indexNotInUse) }
        guard events.hasRoomForChanges else { throw .overloaded }
        return end
    }

    private func stream(
        _ search: ChangeSearch, after: LogCursor?, _ end: LogCursor, of reader: Reader? = nil
    ) -> Response {
        let stream = ResponseStream(user: reader.map { String($0.user.rawValue) }) { [events] writer in
            let number = events.openChanges(search, after: after) { lines in
                if let lines { writer.write(lines) } else { writer.finish() }
            }
            writer.onDrain { events.endChanges(number) }
            writer.onClose { events.closeChanges(number) }
            guard let reader else { return }
            let ending = reader.endings.onEnd(of: reader.user, since: reader.mark) { writer.finish() }
            writer.onClose { reader.endings.forget(ending, of: reader.user) }
        }
        return Response(
            headers: [
                .contentType: "text/event-stream", .cacheControl: "no-store", .xAccelBuffering: "no",
                .humonPosition: "\(end)",
            ], stream: stream)
    }
}
