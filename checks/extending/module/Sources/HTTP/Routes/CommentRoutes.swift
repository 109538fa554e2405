internal import Comments
internal import Encoding
internal import EventStore
internal import Events
internal import HTTPServer
internal import HTTPTypes
internal import Users

extension Module {
    public static let comments = Module(
        .comments, of: .events, make: { CommentsModule($0) }, routes: { CommentRoutes(comments: $0, api: $1).all })
}

private struct CommentRoutes: Sendable {
    let comments: CommentsModule
    let api: API

    var all: [Route] {
        [
            Route(.post, "/v1/events/{id}/comments", "createComment", createComment),
            Route(.get, "/v1/events/{id}/comments", "listComments", listComments),
        ]
    }

    private func createComment(_ request: Request, _ context: RequestContext) async throws -> Response {
        let device = try api.requireDevice(request, context)
        let fields = try request.fields(allowing: [.json, .form])
        guard case .string(let text) = fields.json["text"] ?? "" else { throw HTTPError.invalid(errors: [.notAText("text")]) }
        let commandContext = request.commandContext(context, key: try request.idempotencyKey(fields))
        let event = EventID(rawValue: context.possibleID)
        let (number, position) = try await api.withCaller(device, commandContext) { author, context in
            try await comments.add(text, to: event, by: author, context: context)
        }
        return await api.response(["number": JSON(number)], recordedAt: position)
    }

    private func listComments(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await api.requireReader(request, context)
        let found = try await comments.comments(on: EventID(rawValue: try context.id()))
        return Response(json: .array(found.map(\.json)))
    }
}

extension Comment {
    fileprivate var json: JSON {
        ["number": JSON(number), "author": ["id": JSON(author.rawValue)], "text": .string(text)]
    }
}
