internal import Accounts
internal import Encoding
internal import HTTPServer
internal import HTTPTypes
internal import Tasks

extension Module {
    public static let tasks = Module(
        .tasks, of: .tasks, make: { TasksModule($0) }, routes: { TaskRoutes(tasks: $0, api: $1).all })
}

private struct TaskRoutes: Sendable {
    let tasks: TasksModule
    let api: API

    var all: [Route] {
        [
            Route(.get, "/v1/tasks", "listTasks", listTasks),
            Route(.post, "/v1/tasks", "createTask", createTask),
            Route(.put, "/v1/tasks/{id}", "replaceTask", updateTask),
            Route(.patch, "/v1/tasks/{id}", "updateTask", updateTask),
            Route(.delete, "/v1/tasks/{id}", "deleteTask", deleteTask),
        ]
    }

    private func listTasks(_ request: Request, _ context: RequestContext) async throws -> Response {
        let account = try await api.account(reading: request, context)
        return Response(json: .array(try await tasks.tasks(of: account).map(\.json)))
    }

    private func createTask(_ request: Request, _ context: RequestContext) async throws -> Response {
        let fields = try request.fields(allowing: [.json, .form])
        let caller = try api.requireAccountToken(request, context, body: fields.json, inQuery: true)
        let new = try NewTask(fields.json["task"])
        let commandContext = request.commandContext(context, key: try request.idempotencyKey(fields))
        let (task, position) = try await api.withAccount(caller, commandContext) { account, context in
            try await tasks.create(new, by: account, context: context)
        }
        return await api.response(task.json, recordedAt: position)
    }

    /// PUT and PATCH alike: absent fields stay as they are, because clients send only what changed.
    private func updateTask(_ request: Request, _ context: RequestContext) async throws -> Response {
        let fields = try request.fields(allowing: [.json, .form])
        let caller = try api.requireAccountToken(request, context, body: fields.json)
        let change = try TaskChange(try task(fields.json))
        let commandContext = request.commandContext(context, key: try request.idempotencyKey(fields))
        let (task, position) = try await api.withAccount(caller, commandContext) { account, conditional in
            try await tasks.update(TaskID(rawValue: try context.id()), change, by: account, context: conditional)
        }
        return await api.response(task.json, recordedAt: position)
    }

    /// The fields of the task; `nil` if the body has none.
    private func task(_ body: JSON) throws(HTTPError) -> JSON? {
        switch body["task"] {
        case .object(let fields)?: .object(fields)
        case nil: nil
        case .null?, .bool?, .number?, .string?, .array?: throw .badRequest("The task is not an object", code: .malformedBody)
        }
    }

    private func deleteTask(_ request: Request, _ context: RequestContext) async throws -> Response {
        let fields = try request.fields(allowing: [.json, .form])
        let caller = try api.requireAccountToken(request, context, body: fields.json, inQuery: true)
        let commandContext = request.commandContext(context, key: try request.idempotencyKey(fields))
        let position = try await api.withAccount(caller, commandContext) { account, conditional in
            try await tasks.delete(TaskID(rawValue: try context.id()), by: account, context: conditional)
        }
        // The client takes a response without JSON for a failure.
        return await api.response([:], recordedAt: position)
    }
}

extension AccountTask {
    fileprivate var json: JSON {
        ["id": JSON(id.rawValue), "title": .string(title), "completed": .bool(isCompleted)]
    }
}
