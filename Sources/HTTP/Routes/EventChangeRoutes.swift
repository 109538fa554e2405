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

    /// Responds with a stream if this node has reached its first position.
    private func followFromRing(_ request: Request, _ context: RequestContext) throws -> ImmediateResponse {
        guard api.settings.reads == .everyone else { return .needsTask }
        let search = try search(request)
        let position = try position()
        guard let since = search.since else { return .response(stream(search, after: position, position)) }
        return since <= position ? .response(stream(search, after: since, position)) : .needsTask
    }

    private func follow(_ request: Request, _ context: RequestContext) async throws -> Response {
        let reader = try await reader(request, context)
        let search = try search(request)
        let since = try search.since ?? position()
        // A position beyond the end of the log belongs to a history that was lost, for example in a fail-over.
        let ahead = since - (try position())
        var isOfThisLog = ahead <= 0
        if (1...Self.aheadLimit).contains(ahead) { isOfThisLog = try await events.logReaches(since) }
        return stream(search, after: isOfThisLog ? since : nil, try position(), of: reader)
    }

    /// A reader of a stream that needs a token: the token's user, and a moment before the token was looked up.
    private typealias Reader = (user: UserID, mark: TokenEndings.Mark, endings: TokenEndings)

    /// - Returns: `nil` if everyone may read
    /// - Throws: `HTTPError.unauthorized`, `HTTPError.unavailable(_:)`, `PostgresError`
    private func reader(_ request: Request, _ context: RequestContext) async throws -> Reader? {
        switch api.settings.reads {
        case .everyone: return nil
        case .devices:
            let (endings, mark) = (api.users.tokenEndings, api.users.tokenEndings?.mark)
            let user = try await api.caller(request, context)
            guard let endings, let mark else { throw HTTPError.unavailable(.indexNotInUse) }
            return (user, mark, endings)
        }
    }

    /// - Throws: `HTTPError.badRequest(_:code:)`, `EventRejection`
    private func search(_ request: Request) throws -> ChangeSearch {
        var search = try ChangeSearch(request.queryFields())
        // A browser sends it when it connects again. Source: WHATWG *HTML*, section 9.2.
        if let text = request.headers.value(of: .lastEventID), !text.isEmpty {
            guard let position = Int64(text), position >= 0 else {
                throw HTTPError.badRequest("Last-Event-ID is not a position", code: .malformedPosition)
            }
            search.since = position
        }
        return search
    }

    /// - Throws: `HTTPError.unavailable(_:)` while the node drains, without an index in use, and while too many streams begin
    private func position() throws(HTTPError) -> Int64 {
        guard !api.drain.hasBegun else { throw .unavailable(.stopping) }
        guard let position = events.changesPosition else { throw .unavailable(.indexNotInUse) }
        guard events.hasRoomForChanges else { throw .overloaded }
        return position
    }

    private func stream(
        _ search: ChangeSearch, after: Int64?, _ position: Int64, of reader: Reader? = nil
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
                .humonPosition: String(position),
            ], stream: stream)
    }
}
