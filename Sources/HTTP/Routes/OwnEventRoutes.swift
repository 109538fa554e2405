internal import Encoding
internal import Events
internal import HTTPServer
internal import HTTPTypes
internal import NIOCore

struct OwnEventRoutes: Sendable {
    let events: EventsModule
    let api: API

    var all: [Route] { [Route(.get, "/v1/users/me/events", "listOwnEvents", listOwnEvents)] }

    private func listOwnEvents(_ request: Request, _ context: RequestContext) async throws -> Response {
        let fields = try request.queryFields()
        let caller = try await api.caller(request, context)
        let own = try OwnEvents(of: caller, fields)
        let page = try await events.page(own, atLeast: try request.position())
        var response = Response(jsonBytes: ByteBuffer(bytes: page.json))
        if let next = page.next {
            response.headers[.link] = "</v1/users/me/events?limit=\(own.limit)&after=\(next.rawValue)>; rel=\"next\""
        }
        return response
    }
}

extension OwnEvents.Page {
    fileprivate var json: [UInt8] {
        var json = [UInt8(ascii: "[")]
        for (index, event) in events.enumerated() {
            if index > 0 { json.append(UInt8(ascii: ",")) }
            event.writeJSON(into: &json)
        }
        json.append(UInt8(ascii: "]"))
        return json
    }
}
