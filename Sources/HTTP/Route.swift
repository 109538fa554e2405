internal import HTTPTypes
internal import Hummingbird

/// A route as a value: what is served and what the document describes.
struct Route: Sendable {
    typealias Handler = @Sendable (Request, Exchange) async throws -> Answer
    /// Must not wait, and not take longer than a search does.
    typealias ImmediateHandler = @Sendable (Request, Exchange) throws -> Answer?

    let method: HTTPRequest.Method
    /// As in the document: `/v1/events/{id}`.
    let path: String
    /// The document's `operationId`.
    let operation: String
    let handle: Handler
    /// Answers on the thread that has read the request, as `handle` would; nil: that cannot be, and `handle` is to be asked, as where
    /// it throws.
    let handleAtOnce: ImmediateHandler?
    private let parts: [Substring]
    /// Which of its parts is whatever the client says.
    private let parameter: Int?

    init(
        _ method: HTTPRequest.Method, _ path: String, _ operation: String, atOnce handleAtOnce: ImmediateHandler? = nil,
        _ handle: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.operation = operation
        self.handle = handle
        self.handleAtOnce = handleAtOnce
        parts = path.split(separator: "/")
        parameter = parts.firstIndex { $0.hasPrefix("{") }
    }

    fileprivate var isLiteral: Bool { parameter == nil }

    /// - Parameter requested: the parts of a path
    fileprivate func matches(_ requested: [Substring]) -> Bool {
        guard parts.count == requested.count else { return false }
        return parts.indices.allSatisfy { $0 == parameter || parts[$0] == requested[$0] }
    }

    fileprivate func argument(in requested: [Substring]) -> Substring { parameter.map { requested[$0] } ?? "" }
}

/// The route that a request takes.
struct RouteTaken: Sendable {
    /// In ``API/routes``.
    var index: Int
    /// What stands in the path for the route's parameter; empty where it has none.
    var argument: Substring
}

extension [Route] {
    /// GET brings HEAD along. Asked of every request, so that it makes no list of what matches, as ``methods(at:)`` does.
    /// - Returns: nil where there is no route of that method at that path
    func taken(by method: HTTPRequest.Method, _ path: String) -> RouteTaken? {
        let requested = path.split(separator: "/")
        let method = method == .head ? .get : method
        var taken: Int?
        var isNamed = false
        for index in indices where self[index].matches(requested) {
            if self[index].isLiteral, !isNamed { (taken, isNamed) = (nil, true) }
            if taken == nil, self[index].isLiteral == isNamed, self[index].method == method { taken = index }
        }
        return taken.map { RouteTaken(index: $0, argument: self[$0].argument(in: requested)) }
    }

    /// What may be done at a path; empty where there is nothing.
    func methods(at path: String) -> [HTTPRequest.Method] {
        indices(at: path.split(separator: "/")).flatMap { self[$0].method == .get ? [.get, .head] : [self[$0].method] }
    }

    /// A path that some route names outright is not taken for an id.
    private func indices(at requested: [Substring]) -> [Int] {
        let matching = indices.filter { self[$0].matches(requested) }
        return matching.contains { self[$0].isLiteral } ? matching.filter { self[$0].isLiteral } : matching
    }
}
