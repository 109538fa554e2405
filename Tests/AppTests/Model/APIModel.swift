/// What the API must answer, computed in memory: users with their tokens, events with their guests, and the first answer of each
/// idempotency key. It knows nothing of logs, positions and time.
struct APIModel: Sendable {
    struct Request: Sendable, Hashable {
        var method: String
        var path: String
        var body = ""
        var token: String
        var key: String?
    }

    struct Answer: Sendable, Hashable {
        var status: Int
        var body: String
    }

    struct Event: Sendable {
        var owner: Int64
        var name: String
        var isCancelled = false
        var guests: Set<Int64> = []
    }

    private struct Rotation: Hashable {
        var old: String
        var new: String
    }

    private(set) var events: [Int64: Event] = [:]
    /// The user of each token that is alive.
    private(set) var users: [String: Int64] = [:]
    private var deadTokens: Set<String> = []
    private var rotations: Set<Rotation> = []
    private var keyed: [Int64: [String: (request: Request, answer: Answer)]] = [:]

    static let reused = invalid("Idempotency-Key was used for another request")
    private static let used = invalid("Device token was used before")
    private static let unauthorized = Answer(status: 401, body: "")

    private static func invalid(_ error: String) -> Answer {
        Answer(status: 422, body: #"{"message":"Validation Failed","errors":["\#(error)"]}"#)
    }

    private static func refused(_ status: Int, _ message: String) -> Answer {
        Answer(status: status, body: #"{"message":"\#(message)"}"#)
    }

    /// Carries a command out.
    /// - Parameter id: of the user or event, if the command creates one: the server chooses it
    mutating func answer(to request: Request, creating id: Int64) -> Answer {
        if request.path == "/v1/users" { return signUp(request.token, creating: id) }
        if request.path == "/v1/users/me/token" { return rotate(request.token, to: request.body) }
        guard let user = users[request.token] else { return Self.unauthorized }
        if let key = request.key, let first = keyed[user]?[key] {
            var repetition = request
            // A user keeps its keys when the token changes.
            repetition.token = first.request.token
            return repetition == first.request ? first.answer : Self.reused
        }
        let answer = carryOut(request, by: user, creating: id)
        // A refused command leaves its key free.
        if let key = request.key, answer.status == 200 { keyed[user, default: [:]][key] = (request, answer) }
        return answer
    }

    private mutating func signUp(_ token: String, creating id: Int64) -> Answer {
        guard !deadTokens.contains(token) else { return Self.unauthorized }
        let user = users[token] ?? id
        users[token] = user
        return Self.device(user, token)
    }

    private static func device(_ user: Int64, _ token: String) -> Answer {
        Answer(status: 200, body: #"{"id":\#(user),"device_token":"\#(token)","auth_token":"\#(token)"}"#)
    }

    /// - Parameter body: `{"device_token":"…"}`
    private mutating func rotate(_ old: String, to body: String) -> Answer {
        let new = String(body.dropFirst(#"{"device_token":""#.count).dropLast(2))
        guard let user = users[old] else {
            // The same request again gets the same answer while the new token is alive.
            guard rotations.contains(Rotation(old: old, new: new)), let user = users[new] else { return Self.unauthorized }
            return Self.device(user, new)
        }
        guard users[new] == nil, !deadTokens.contains(new) else { return Self.used }
        rotations.insert(Rotation(old: old, new: new))
        users[old] = nil
        deadTokens.insert(old)
        users[new] = user
        return Self.device(user, new)
    }

    private mutating func carryOut(_ request: Request, by user: Int64, creating id: Int64) -> Answer {
        if request.method == "POST" {
            events[id] = Event(owner: user, name: Self.name(in: request.body))
            return Answer(status: 200, body: #"{"id":\#(id)}"#)
        }
        let parts = request.path.split(separator: "/")
        guard let id = Int64(parts[2]), let event = events[id] else { return Self.refused(404, "Not Found") }
        let attends = parts.count > 3
        switch request.method {
        case "PUT" where attends:
            guard !event.isCancelled else { return Self.refused(410, "Event Cancelled") }
            events[id]?.guests.insert(user)
            return Answer(status: 200, body: "{}")
        case "DELETE" where attends:
            events[id]?.guests.remove(user)
            return Answer(status: 200, body: "{}")
        default:
            guard event.owner == user else { return Self.refused(403, "Forbidden") }
            if request.method == "DELETE" {
                events[id]?.isCancelled = true
            } else {
                guard !event.isCancelled else { return Self.refused(410, "Event Cancelled") }
                events[id]?.name = Self.name(in: request.body)
            }
            return Answer(status: 200, body: #"{"id":\#(id)}"#)
        }
    }

    /// - Parameter details: as ``RandomCommands`` writes them
    private static func name(in details: String) -> String {
        details.split(separator: "\"").dropFirst(3).first.map(String.init) ?? ""
    }

    /// What a token's user reads of an event's attendances.
    func attendance(of event: Int64, token: String) -> Answer {
        guard let user = users[token] else { return Self.unauthorized }
        guard let event = events[event] else { return Self.refused(404, "Not Found") }
        guard !event.isCancelled else { return Self.refused(410, "Event Cancelled") }
        return Answer(
            status: 200, body: #"{"count":\#(event.guests.count),"attending":\#(event.guests.contains(user))}"#)
    }
}
