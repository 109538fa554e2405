internal import Encoding
internal import EventStore
internal import Events
internal import HTTPServer
internal import HTTPTypes
internal import NIOCore

/// Searches for events, from the in-memory index or from PostgreSQL.
struct EventSearchRoutes: Sendable {
    let events: EventsModule
    let api: API

    var all: [Route] {
        [
            Route(.get, "/v1/events", "listEvents", immediately: listInIndex, list),
            Route(.get, "/v1/events/nearests", "findNearestEvents", immediately: findNearestInIndex, findNearest),
            Route(.get, "/v1/events/nearest", "findNearestEventsSingular", immediately: findNearestInIndex, findNearest),
            Route(.get, "/v1/events/clusters", "countEvents", immediately: countInIndex, count),
        ]
    }

    private func findNearest(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await respond(request, context, NearestRequest.init) { try await $0.nearest($1).response(to: $1) }
    }

    private func findNearestInIndex(_ request: Request, _ context: RequestContext) throws -> ImmediateResponse {
        try respondFromIndex(request, NearestRequest.init) { $0.indexedNearest($1)?.response(to: $1) }
    }

    private func list(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await respond(request, context, BoxRequest.init) { try await $0.events(in: $1).response(to: $1) }
    }

    private func listInIndex(_ request: Request, _ context: RequestContext) throws -> ImmediateResponse {
        try respondFromIndex(request, BoxRequest.init) { $0.indexedEvents(in: $1)?.response(to: $1) }
    }

    private func count(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await respond(request, context, ClusterRequest.init) { view, search in
            var json = ClusterJSON(try await view.clusters(search))
            while json.writePart() { await Task.yield() }
            return Response(jsonBytes: json.bytes)
        }
    }

    private func countInIndex(_ request: Request, _ context: RequestContext) throws -> ImmediateResponse {
        try respondFromIndex(request, ClusterRequest.init) { view, search in
            view.indexedClusters(search).flatMap { clusters in
                var json = ClusterJSON(clusters)
                return json.writePart() ? nil : Response(jsonBytes: json.bytes)
            }
        }
    }

    private func respond<Search>(
        _ request: Request, _ context: RequestContext, _ read: (JSON) throws -> Search,
        _ find: (EventsView, Search) async throws -> Response
    ) async throws -> Response {
        try await api.requireReader(request, context)
        let search = try read(request.queryFields())
        let view = try await events.view(atLeast: try await api.position(request))
        if let known = notModified(view, request) { return response(known, view) }
        return response(try await find(view, search), view)
    }

    /// - Parameter find: returns `nil` if the search takes too long for an event loop
    private func respondFromIndex<Search>(
        _ request: Request, _ read: (JSON) throws -> Search, _ find: (EventsView, Search) -> Response?
    ) throws -> ImmediateResponse {
        guard api.settings.reads == .everyone else { return .needsTask }
        let search = try read(request.queryFields())
        guard let view = try api.indexView(for: request) else { return .needsTask }
        guard let found = notModified(view, request) ?? find(view, search) else { return .needsLongTask }
        events.countIndexRead()
        return .response(response(found, view))
    }

    /// The response to a client that holds the list at the view's position. While the log does not grow no list changes, so that no
    /// search is needed.
    private func notModified(_ view: EventsView, _ request: Request) -> Response? {
        guard let tag = EntityTag(of: view), request.matchesIfNoneMatch(tag) else { return nil }
        return Response(status: .notModified)
    }

    /// Adds the headers of a list.
    private func response(_ found: Response, _ view: EventsView) -> Response {
        var response = found
        if let tag = EntityTag(of: view) { response.headers.append(HTTPField(name: .eTag, value: tag.description)) }
        response.setCacheControl(for: api.settings.reads)
        response.addAgeHeader(of: view)
        return response
    }
}

extension EntityTag {
    /// The tag of a list: the view's position and mark. `nil` if the view reads PostgreSQL.
    fileprivate init?(of view: EventsView) {
        guard let end = view.end, let mark = view.listMark else { return nil }
        self.init(version: end.position, mark: mark)
    }
}

/// Paths of the next page are relative, because a server behind a proxy does not know its own address.
extension RenderedEvents {
    fileprivate func response(to search: NearestRequest) -> Response {
        var response = Response(jsonBytes: count > 0 ? json : ByteBuffer(string: #"{"message":"No Events Found"}"#))
        if let next {
            let centre = "lat=\(search.centre.lat)&lon=\(search.centre.lon)&radius=\(search.radius)"
            response.addLink("/v1/events/nearests?\(centre)&limit=\(search.limit)&after=\(next)\(search.window.parameters)")
        }
        return response
    }

    fileprivate func response(to search: BoxRequest) -> Response {
        var response = Response(jsonBytes: json)
        if let nextID {
            let box = search.bbox.map(\.description).joined(separator: ",")
            let page = "limit=\(search.limit)&after=\(nextID.rawValue)"
            response.addLink("/v1/events?bbox=\(box)&\(page)\(search.window.parameters)")
        }
        return response
    }

    /// The rendered events, joined to a JSON array.
    private var json: ByteBuffer {
        ByteBuffer(jsonArrayOf: count, bytes: jsonBytes) { append in forEachJSON(append) }
    }
}

extension Response {
    /// - Parameter next: the path and query of the next page
    mutating func addLink(_ next: String) { headers[.link] = "<\(next)>; rel=\"next\"" }
}

extension TimeWindow {
    /// The ends as they stand in a query, after other parameters.
    fileprivate var parameters: String { (from.map { "&from=\($0)" } ?? "") + (to.map { "&to=\($0)" } ?? "") }
}

/// The JSON of clusters, written in parts that an event loop can bear: 4,096 clusters take 4 ms.
private struct ClusterJSON {
    /// Number of clusters of one part. They take 0.1 ms.
    private static let part = 100

    private var rest: ArraySlice<EventCluster>
    private var json = [UInt8(ascii: "[")]

    init(_ clusters: [EventCluster]) { rest = clusters[...] }

    var bytes: ByteBuffer { ByteBuffer(bytes: json + [UInt8(ascii: "]")]) }

    /// - Returns: whether there is another part
    mutating func writePart() -> Bool {
        for cluster in rest.prefix(Self.part) {
            if json.count > 1 { json.append(UInt8(ascii: ",")) }
            let centre = cluster.centre
            let object: JSON = [
                "lat": JSON(centre.lat.positiveZero), "lon": JSON(centre.lon.positiveZero), "count": JSON(Int64(cluster.count)),
                "bbox": .array(cluster.bbox.map { JSON($0.positiveZero) }),
            ]
            json += object.utf8
        }
        rest = rest.dropFirst(Self.part)
        return !rest.isEmpty
    }
}

extension Double {
    /// The same number, without the sign of -0: equal minima of the index and of PostgreSQL may differ in it.
    fileprivate var positiveZero: Double { self + 0 }
}
