import Encoding
import TestChance

/// Accounts and tasks. Only this client uses its account, so it knows what every list must show. The log names these commands by the ids
/// of their requests.
extension FaultInjectionClient {
    private static let password = "correct.horse.battery"

    /// The account of a client, and what its tasks are.
    struct Account: Sendable {
        struct Task: Sendable, Hashable {
            var title: String
            var isCompleted = false
        }

        var id: Int64
        var email: String
        /// nil: the client must sign in.
        var token: String?
        /// The tasks whose state is known. A change without a response removes its task.
        var tasks: [Int64: Task] = [:]
        var deleted: Set<Int64> = []
    }

    /// Only the creation of a task takes an idempotency key. Every other command here is sent once: without a key, a late first attempt
    /// could follow a later command.
    func useAccount(_ command: Int, _ state: inout State, _ generator: inout SeededGenerator) async {
        guard let account = state.account else { return await createAccount(command, &state, &generator) }
        guard let token = account.token else { return await signIn(command, account.email, &state, &generator) }
        switch (Int.random(in: 0..<100, using: &generator), account.tasks.keys.sorted().randomElement(using: &generator)) {
        case (..<8, _): await signOut(command, token, &state, &generator)
        case (..<12, _): await askForWrongPassword(command, account.email, &state, &generator)
        case (..<70, let task?): await change(command, task, token, &state, &generator)
        default: await createTask(command, token, &state, &generator)
        }
        await compareTasks(command, &state, &generator)
    }

    private func request(
        _ command: Int, _ method: String, _ path: String, token: String? = nil, _ body: String = ""
    ) -> Request {
        let headers = [("x-request-id", mark(command))] + (token.map { [("tb-auth-token", $0)] } ?? [])
        return Request(method: method, path: path, headers: headers, body: body, isRepeatable: false)
    }

    private static func credentials(_ email: String, password: String = password) -> String {
        #"{"user":{"email":"\#(email)","password":"\#(password)"}}"#
    }

    private func createAccount(_ command: Int, _ state: inout State, _ generator: inout SeededGenerator) async {
        let email = "client-\(number)-\(command)@\(seed).example.org"
        let request = request(command, "POST", "/v1/users", Self.credentials(email))
        let response = await deliver(request, command, &state, &generator)
        let answer = response.flatMap { try? JSON(utf8: $0.body.utf8) }
        let id = answer?["id"].flatMap(\.integer)
        if let id { state.account = Account(id: id, email: email, token: answer?["token"].flatMap(\.text)) }
        write(command, "account sign-up", mark(command), "AccountCreated", id.map { "account-\($0)" }, response, &state)
    }

    private func signIn(_ command: Int, _ email: String, _ state: inout State, _ generator: inout SeededGenerator) async {
        let request = request(command, "POST", "/v1/users/sign_in", Self.credentials(email))
        let response = await deliver(request, command, &state, &generator)
        state.account?.token = response.flatMap { try? JSON(utf8: $0.body.utf8) }?["token"].flatMap(\.text)
        write(command, "sign-in", mark(command), "SignedIn", state.account.map { "account-\($0.id)" }, response, &state)
    }

    private func askForWrongPassword(
        _ command: Int, _ email: String, _ state: inout State, _ generator: inout SeededGenerator
    ) async {
        let request = request(command, "POST", "/v1/users/sign_in", Self.credentials(email, password: "wrong password"))
        let response = await deliver(request, command, mayRefuse: [401], &state, &generator)
        if let response, response.status != 401 {
            complain(.responses, "client \(number)'s command \(command) signed in with a wrong password", &state)
        }
        write(command, "refusable 401", mark(command), "SignedIn", nil, response, &state)
    }

    /// A token that was given back is dead on both servers.
    private func signOut(_ command: Int, _ token: String, _ state: inout State, _ generator: inout SeededGenerator) async {
        let request = request(command, "DELETE", "/v1/users/sign_out", token: token)
        let response = await deliver(request, command, &state, &generator)
        state.account?.token = nil
        write(command, "sign-out", mark(command), "SignedOut", state.account.map { "account-\($0.id)" }, response, &state)
        guard response?.status == 200 else { return }
        for node in fleet.ports.indices {
            let list = Request(method: "GET", path: "/v1/tasks", headers: [("tb-auth-token", token)], isRepeatable: true)
            guard let shown = await ask(list, node, haste: nil, &state), shown.status != 401 else { continue }
            complain(.readings, "after client \(number)'s sign-out \(command) its token got \(shown.status)", &state)
        }
    }

    private func createTask(_ command: Int, _ token: String, _ state: inout State, _ generator: inout SeededGenerator) async {
        var request = request(command, "POST", "/v1/tasks", token: token, #"{"task":{"title":"\#(mark(command))"}}"#)
        key(&request, command)
        let response = await deliver(request, command, &state, &generator)
        let id = response.flatMap { try? JSON(utf8: $0.body.utf8) }?["id"].flatMap(\.integer)
        if let id { state.account?.tasks[id] = Account.Task(title: mark(command)) }
        write(command, "task creation", mark(command), "TaskCreated", id.map { "task-\($0)" }, response, &state)
    }

    /// Renames, completes, reopens or deletes a task.
    private func change(
        _ command: Int, _ id: Int64, _ token: String, _ state: inout State, _ generator: inout SeededGenerator
    ) async {
        guard var task = state.account?.tasks[id] else { return }
        var request = request(command, "PUT", "/v1/tasks/\(id)", token: token)
        let type: String
        switch Int.random(in: 0..<10, using: &generator) {
        case ..<4:
            task.title = mark(command)
            request.body = #"{"task":{"title":"\#(task.title)"}}"#
            type = "TaskRenamed"
        case ..<9:
            task.isCompleted.toggle()
            request.body = #"{"task":{"completed":\#(task.isCompleted)}}"#
            type = task.isCompleted ? "TaskCompleted" : "TaskReopened"
        default:
            request.method = "DELETE"
            type = "TaskDeleted"
        }
        let response = await deliver(request, command, &state, &generator)
        let isDone = response?.status == 200
        state.account?.tasks[id] = isDone && type != "TaskDeleted" ? task : nil
        if isDone, type == "TaskDeleted" { state.account?.deleted.insert(id) }
        write(command, "task change", mark(command), type, "task-\(id)", response, &state)
    }

    /// Asks either server: its list has every task as the responses left it, and no deleted one.
    private func compareTasks(_ command: Int, _ state: inout State, _ generator: inout SeededGenerator) async {
        guard let account = state.account, let token = account.token, generator.happens(inPercent: 40) else { return }
        let request = Request(method: "GET", path: "/v1/tasks", headers: [("tb-auth-token", token)], isRepeatable: true)
        let node = Int.random(in: 0...1, using: &generator)
        guard let shown = await ask(request, node, haste: nil, &state), shown.status == 200,
            case .array(let list)? = try? JSON(utf8: shown.body.utf8)
        else { return }
        let tasks = list.reduce(into: [Int64: Account.Task]()) { tasks, task in
            guard let id = task["id"].flatMap(\.integer) else { return }
            tasks[id] = Account.Task(title: task["title"].flatMap(\.text) ?? "", isCompleted: task["completed"] == .bool(true))
        }
        for (id, task) in account.tasks where tasks[id] != task {
            complain(
                .readings,
                "after client \(number)'s command \(command) task \(id) is \(tasks[id].map { "\($0)" } ?? "gone"), not \(task)",
                &state)
        }
        for id in account.deleted where tasks[id] != nil {
            complain(.readings, "after client \(number)'s command \(command) the deleted task \(id) is there", &state)
        }
    }

    // MARK: Sessions of the map page

    /// A visitor begins a session and ends it. Its token is dead on both servers then.
    func visitPage(_ command: Int, _ state: inout State, _ generator: inout SeededGenerator) async {
        var request = request(command, "POST", "/session")
        request.headers.append(("sec-fetch-site", "same-origin"))
        let response = await deliver(request, command, &state, &generator)
        let user = response.flatMap { try? JSON(utf8: $0.body.utf8) }?["id"].flatMap(\.integer)
        let stream = user.map { "user-\($0)" }
        write(command, "session", mark(command), "UserCreated", stream, response, &state)
        guard let cookie = response?.cookie else { return }
        let ending = Mark.text(client: number, command: command + Self.endings)
        let headers = [("x-request-id", ending), ("sec-fetch-site", "same-origin"), ("cookie", cookie)]
        let end = await deliver(
            Request(method: "DELETE", path: "/session", headers: headers, isRepeatable: false), command, &state, &generator)
        write(command, "end of session", ending, "TokenRevoked", stream, end, &state)
        guard let end, end.status < 300 else { return }
        for node in fleet.ports.indices {
            let read = Request(method: "GET", path: "/session", headers: headers, isRepeatable: true)
            guard let shown = await ask(read, node, haste: nil, &state), shown.body != #"{"id":null}"# else { continue }
            complain(.readings, "after client \(number)'s session \(command) its cookie got \(shown.body)", &state)
        }
    }

    /// Added to the number of a command, for its second mark.
    private static let endings = 1_000_000
}

extension JSON {
    fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
}
