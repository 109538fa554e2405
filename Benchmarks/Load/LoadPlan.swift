internal import Encoding
internal import Foundation

/// The routes of a run with their rates, read from a JSON file.
///
///     {"routes": [{"name": "GET by id", "requests": "get.txt", "per_second": 4000, "connections": 16,
///                  "headers": {"accept-encoding": "gzip"}}]}
struct LoadPlan: Sendable {
    struct Route: Sendable, Equatable {
        var name: String
        /// The path of the file of requests, relative to the plan.
        var requests: String
        var perSecond: Double
        /// Connections of this route alone, so that a slow route does not delay the requests of another.
        var connections: Int
        var headers: [(name: String, value: String)]

        static func == (left: Self, right: Self) -> Bool {
            left.name == right.name && left.requests == right.requests && left.perSecond == right.perSecond
                && left.connections == right.connections && left.headers.elementsEqual(right.headers, by: ==)
        }
    }

    static let defaultConnections = 16

    var routes: [Route]

    var perSecond: Double { routes.reduce(0) { $0 + $1.perSecond } }

    /// - Throws: ``LoadPlanError``
    init(_ json: JSON) throws(LoadPlanError) {
        guard case .array(let routes)? = json["routes"], !routes.isEmpty else {
            throw LoadPlanError(reason: "the plan has no routes")
        }
        self.routes = []
        for route in routes { self.routes.append(try Route(route)) }
    }

    /// The same proportions with another number of requests a second in total.
    func scaled(toPerSecond total: Double) -> LoadPlan {
        var plan = self
        for index in routes.indices { plan.routes[index].perSecond *= total / perSecond }
        return plan
    }

    /// The schedules of the routes. They begin at different moments, so that routes with the same rate do not send together.
    var schedules: [Schedule] {
        routes.enumerated().map { index, route in
            let interval = Schedule.nanosecondsPerSecond / route.perSecond
            return Schedule(first: Int64(interval * Double(index) / Double(routes.count)), perSecond: route.perSecond)
        }
    }
}

extension LoadPlan.Route {
    /// - Throws: ``LoadPlanError``
    fileprivate init(_ json: JSON) throws(LoadPlanError) {
        guard case .string(let name)? = json["name"], case .string(let requests)? = json["requests"] else {
            throw LoadPlanError(reason: "a route of the plan lacks its name or its requests")
        }
        guard case .number(let digits)? = json["per_second"], let perSecond = Double(digits), perSecond > 0 else {
            throw LoadPlanError(reason: "route \(name) needs a per_second above 0")
        }
        var connections = LoadPlan.defaultConnections
        if let value = json["connections"] {
            guard case .number(let digits) = value, let number = Int(digits), number > 0 else {
                throw LoadPlanError(reason: "route \(name) needs one connection or more")
            }
            connections = number
        }
        var headers: [(name: String, value: String)] = []
        if case .object(let members)? = json["headers"] {
            for member in members.members {
                guard case .string(let value) = member.value else {
                    throw LoadPlanError(reason: "header \(member.name) of route \(name) is no string")
                }
                headers.append((member.name, value))
            }
        }
        self.init(name: name, requests: requests, perSecond: perSecond, connections: connections, headers: headers)
    }
}

/// A plan or a file of requests is unusable.
struct LoadPlanError: Error, CustomStringConvertible, Equatable {
    var reason: String
    var description: String { reason }
}
