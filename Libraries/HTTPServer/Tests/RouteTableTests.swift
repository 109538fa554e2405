import HTTPTypes
import Testing

@testable import HTTPServer

@Suite struct `Finding a route` {
    private static let routes = [
        Route(.get, "/v1/events/nearests", "nearest") { _, _ in Response() },
        Route(.post, "/v1/events", "create") { _, _ in Response() },
        Route(.get, "/v1/events/{id}", "get") { _, _ in Response() },
        Route(.patch, "/v1/events/{id}", "update") { _, _ in Response() },
        Route(.get, "/v1/events/{id}/attendances", "attendances") { _, _ in Response() },
        Route(.get, "/v1/events/{id}.ics", "calendar") { _, _ in Response() },
    ]
    private let table = RouteTable(routes)

    private func found(_ method: HTTPRequest.Method, _ path: Substring) -> String? {
        table.match(method, path).map { "\(table[$0].operation)(\($0.parameter))" }
    }

    @Test func `a route is found by path and method, with the value of its parameter`() {
        #expect(found(.post, "/v1/events") == "create()")
        #expect(found(.get, "/v1/events/7") == "get(7)")
        #expect(found(.patch, "/v1/events/7") == "update(7)")
        #expect(found(.get, "/v1/events/7/attendances") == "attendances(7)")
        #expect(found(.head, "/v1/events/7") == "get(7)")
        #expect(found(.get, "//v1/events//7/") == "get(7)")
    }

    @Test func `a route with one handler runs it in a task, also if the handler is synchronous`() {
        #expect(Self.routes.allSatisfy { $0.respondImmediately == nil })
        #expect(Self.routes.map(\.limit) == [.reading, .writing, .reading, .writing, .reading, .reading])
        let immediate = Route.immediate(.get, "/") { _, _ in Response() }
        #expect(immediate.respondImmediately != nil)
    }

    @Test func `a suffix behind a parameter takes precedence over the parameter alone`() {
        #expect(found(.get, "/v1/events/7.ics") == "calendar(7)")
        #expect(found(.get, "/v1/events/7.ics.ics") == "calendar(7.ics)")
        #expect(found(.get, "/v1/events/.ics") == "get(.ics)")
        #expect(found(.get, "/v1/events/7.ics/attendances") == "attendances(7.ics)")
        #expect(found(.patch, "/v1/events/7.ics") == nil)
        #expect(table.methods(at: "/v1/events/7.ics") == [.get, .head])
    }

    @Test func `a literal path segment takes precedence over a parameter`() {
        #expect(found(.get, "/v1/events/nearests") == "nearest()")
        #expect(found(.patch, "/v1/events/nearests") == nil)
        #expect(found(.get, "/v1/events/nearests/attendances") == "attendances(nearests)")
    }

    @Test func `the methods of a path are listed, and an unknown path has none`() {
        #expect(table.methods(at: "/v1/events/7") == [.get, .head, .patch])
        #expect(table.methods(at: "/v1/events/nearests") == [.get, .head])
        #expect(table.methods(at: "/v1/events/") == [.post])
        for path: Substring in ["", "/", "/v1", "/v1/event", "/v1/events/7/8", "/v1/eventss"] {
            #expect(table.methods(at: path).isEmpty, "\(path)")
            #expect(found(.get, path) == nil, "\(path)")
        }
    }
}
