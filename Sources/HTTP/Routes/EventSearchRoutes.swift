internal import Encoding
internal import EventStore
internal import Events
internal import HTTPServer
internal import HTTPTypes
internal import NIOCore

/// Searches for events in the index.
struct EventSearchRoutes: Sendable {
    let events: EventsModule
    let api: API

    var all: [Route] {
        [
            route("/v1/events", "listEvents", BoxRequest.self) { $0.response(to: $1) },
            route("/v1/events/nearests", "findNearestEvents", NearestRequest.self) { $0.response(to: $1) },
            route("/v1/events/nearest", "findNearestEventsSingular", NearestRequest.self) { $0.response(to: $1) },
            route("/v1/events/clusters", "countEvents", ClusterRequest.self) { clusters, _ in clusters.response },
        ]
    }

    /// - Parameter respond: makes the response of what a search found
    private func route<Search: EventRequest>(
        _ path: String, _ operation: String, _ type: Search.Type,
        _ respond: @escaping @Sendable (Search.Found, Search) -> Response
    ) -> Route {
        Route(
            .get, path, operation,
            immediately: { request, _ in
                guard api.settings.reads == .everyone else { return .needsTask }
                let search = try Search(request.queryFields())
                guard let view = try api.indexView(for: request) else { return .needsTask }
                guard let found = notModified(view, request) ?? view.findImmediately(search).map({ respond($0, search) })
                else { return .needsLongTask }
                events.countRead()
                return .response(response(found, view))
            },
            { request, context in
                try await api.requireReader(request, context)
                let search = try Search(request.queryFields())
                let view = try await events.view(atLeast: try await api.position(request))
                if let known = notModified(view, request) { return response(known, view) }
                return response(respond(try await view.find(search), search), view)
            })
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
    /// The tag of a list: the view's position and mark. `nil` if the log does not have that position yet.
    fileprivate init?(of view: EventsView) {
        guard let mark = view.listMark else { return nil }
        self.init(version: view.end.position, mark: mark)
    }
}

/// Paths of the next page are relative, because a server behind a proxy does not know its own address.
extension RenderedEvents {
    fileprivate func response(to search: NearestRequest) -> Response {
        var response = Response(jsonBytes: count > 0 ? json : ByteBuffer(string: #"{"message":"No Events Found"}"#))
        if let next {
            let centre = "lat=\(search.centre.lat)&lon=\(search.centre.lon)&radius=\(search.radius)"
            response.addLink("/v1/events/nearests?\(centre)&limit=\(search.limit)&after=\(next)\(search.filter.parameters)")
        }
        return response
    }

    fileprivate func response(to search: BoxRequest) -> Response {
        var response = Response(jsonBytes: json)
        if let nextID {
            let box = search.bbox.map(\.description).joined(separator: ",")
            let page = "limit=\(search.limit)&after=\(nextID.rawValue)"
            response.addLink("/v1/events?bbox=\(box)&\(page)\(search.filter.parameters)")
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

extension EventFilter {
    /// The filter as it stands in a query, after other parameters.
    fileprivate var parameters: String {
        let ends = (from.map { "&from=\($0)" } ?? "") + (to.map { "&to=\($0)" } ?? "")
        return ends + (text.map { "&q=\($0.percentEncoded)" } ?? "") + (category.map { "&category=\($0)" } ?? "")
    }
}

extension String {
    /// UTF-8 in which every byte is escaped that is no letter or digit of ASCII. Source: RFC 3986, section 2.1.
    fileprivate var percentEncoded: String { escaping { $0.isLetterOrDigit ? nil : "%\([$0].hexadecimal.uppercased())" } }
}

extension [EventCluster] {
    fileprivate var response: Response {
        let objects = map { cluster -> JSON in
            [
                "lat": JSON(cluster.centre.lat.positiveZero), "lon": JSON(cluster.centre.lon.positiveZero),
                "count": JSON(Int64(cluster.count)), "bbox": .array(cluster.bbox.map { JSON($0.positiveZero) }),
            ]
        }
        return Response(json: .array(objects))
    }
}

extension Double {
    /// The same number, without the sign of -0: equal minima may differ in it.
    fileprivate var positiveZero: Double { self + 0 }
}
