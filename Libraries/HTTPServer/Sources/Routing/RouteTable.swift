internal import HTTPTypes

/// The route of a request.
public struct RouteMatch: Sendable {
    /// The index of the route in the router's list.
    public let index: Int
    /// The template of the route's path.
    public let template: String
    /// The part of the path that matches the route's first parameter. Empty if the route has none.
    public let parameter: Substring
}

/// Finds routes by the parts of their paths, instead of comparing a request with each route. A literal part takes precedence
/// over a parameter.
struct RouteTable: Sendable {
    private let routes: [Route]
    private var root = PathNode()
    /// The methods of all routes, for `OPTIONS *`.
    let allMethods: [HTTPRequest.Method]

    init(_ routes: [Route]) {
        self.routes = routes
        var methods: [HTTPRequest.Method] = []
        for (index, route) in routes.enumerated() {
            root.insert(index, at: route.path.split(separator: "/")[...])
            for method in Self.methods(of: route) where !methods.contains(method) { methods.append(method) }
        }
        allMethods = methods
    }

    subscript(match: RouteMatch) -> Route { routes[match.index] }

    /// The same as of the route, without a copy of the other members.
    func immediateHandler(of match: RouteMatch) -> Route.ImmediateHandler? { routes[match.index].respondImmediately }

    /// HEAD takes the routes of GET.
    /// - Returns: `nil` if no route has that method and path
    func match(_ method: HTTPRequest.Method, _ path: Substring) -> RouteMatch? {
        guard let (indices, parameter) = root.find(path) else { return nil }
        let method = method == .head ? .get : method
        guard let index = indices.first(where: { routes[$0].method == method }) else { return nil }
        return RouteMatch(index: index, template: routes[index].path, parameter: parameter)
    }

    /// The methods of the routes at a path. Empty if there are none.
    func methods(at path: Substring) -> [HTTPRequest.Method] {
        (root.find(path)?.indices ?? []).flatMap { Self.methods(of: routes[$0]) }
    }

    private static func methods(of route: Route) -> [HTTPRequest.Method] {
        route.method == .get ? [.get, .head] : [route.method]
    }
}

/// The parts that can follow a prefix of a path.
private struct PathNode: Sendable {
    /// The routes with a path that ends here.
    private var indices: [Int] = []
    private var literals: [(part: Substring, node: PathNode)] = []
    /// The nodes behind a parameter, by what follows it in the same part, as in `{id}.ics`. A longer suffix comes first.
    private var parameters: [(suffix: Substring, node: PathNode)] = []

    mutating func insert(_ index: Int, at path: ArraySlice<Substring>) {
        guard let part = path.first else { return indices.append(index) }
        if part.hasPrefix("{") {
            let suffix = part.drop { $0 != "}" }.dropFirst()
            let place = parameters.firstIndex { $0.suffix == suffix } ?? parameters.endIndex
            if place == parameters.endIndex { parameters.append((suffix, PathNode())) }
            parameters[place].node.insert(index, at: path.dropFirst())
            parameters.sort { $0.suffix.utf8.count > $1.suffix.utf8.count }
        } else {
            let place = literals.firstIndex { $0.part == part } ?? literals.endIndex
            if place == literals.endIndex { literals.append((part, PathNode())) }
            literals[place].node.insert(index, at: path.dropFirst())
        }
    }

    /// Runs for every request, so it allocates no list of the parts.
    /// - Returns: `nil` if no route has that path
    func find(_ path: Substring) -> (indices: [Int], parameter: Substring)? {
        let slash = UInt8(ascii: "/")
        let path = Substring(path.utf8.drop { $0 == slash })
        guard !path.isEmpty else { return indices.isEmpty ? nil : (indices, "") }
        let end = path.utf8.firstIndex(of: slash) ?? path.endIndex
        if let next = literals.first(where: { $0.part == path[..<end] }), let found = next.node.find(path[end...]) {
            return found
        }
        let part = path.utf8[..<end]
        // By index: a copy of a node would count references.
        for index in parameters.indices {
            let suffix = parameters[index].suffix.utf8
            guard part.count > suffix.count, part.suffix(suffix.count).elementsEqual(suffix),
                let found = parameters[index].node.find(path[end...])
            else { continue }
            // The first parameter of a path is kept.
            return (found.indices, Substring(part.dropLast(suffix.count)))
        }
        return nil
    }
}
