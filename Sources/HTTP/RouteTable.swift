internal import HTTPTypes

/// The route that a request takes.
struct RouteTaken: Sendable {
    /// In ``API/routes``.
    var index: Int
    /// What stands in the path for the route's parameter; empty where it has none.
    var argument: Substring
}

/// Routes by the parts of their paths, so that a request is not held against each. A path that some route names outright is not
/// taken for an id.
struct RouteTable: Sendable {
    private let routes: [Route]
    private var root = Parts()

    init(_ routes: [Route]) {
        self.routes = routes
        for (index, route) in routes.enumerated() { root.insert(index, at: route.path.split(separator: "/")[...]) }
    }

    subscript(taken: RouteTaken) -> Route { routes[taken.index] }

    /// GET brings HEAD along.
    /// - Returns: nil where there is no route of that method at that path
    func taken(by method: HTTPRequest.Method, _ path: String) -> RouteTaken? {
        guard let (indices, argument) = root.find(path[...]) else { return nil }
        let method = method == .head ? .get : method
        return indices.first { routes[$0].method == method }.map { RouteTaken(index: $0, argument: argument) }
    }

    /// What may be done at a path; empty where there is nothing.
    func methods(at path: String) -> [HTTPRequest.Method] {
        (root.find(path[...])?.indices ?? []).flatMap { routes[$0].method == .get ? [.get, .head] : [routes[$0].method] }
    }
}

/// What can follow in a path.
private struct Parts: Sendable {
    /// Of routes whose paths end here.
    private var indices: [Int] = []
    private var named: [(part: Substring, rest: Parts)] = []
    /// What follows whatever the client says; one or none.
    private var parameter: [Parts] = []

    mutating func insert(_ index: Int, at path: ArraySlice<Substring>) {
        guard let part = path.first else { return indices.append(index) }
        if part.hasPrefix("{") {
            if parameter.isEmpty { parameter.append(Parts()) }
            parameter[0].insert(index, at: path.dropFirst())
        } else {
            let place = named.firstIndex { $0.part == part } ?? named.endIndex
            if place == named.endIndex { named.append((part, Parts())) }
            named[place].rest.insert(index, at: path.dropFirst())
        }
    }

    /// Asked of every request, so that it makes no list of the parts.
    /// - Returns: nil where no route's path is that
    func find(_ path: Substring) -> (indices: [Int], argument: Substring)? {
        let slash = UInt8(ascii: "/")
        let path = Substring(path.utf8.drop { $0 == slash })
        guard !path.isEmpty else { return indices.isEmpty ? nil : (indices, "") }
        let end = path.utf8.firstIndex(of: slash) ?? path.endIndex
        if let next = named.first(where: { $0.part == path[..<end] }), let found = next.rest.find(path[end...]) { return found }
        return parameter.first?.find(path[end...]).map { ($0.indices, path[..<end]) }
    }
}
