import TestChance

/// Random commands of a few users on a few events, so that they meet often: with idempotency keys, late repetitions, other requests
/// under used keys, rotated tokens and dead ones.
struct RandomCommands: Sendable {
    private(set) var generator: SeededGenerator
    private var sent: [APIModel.Request] = []
    private var count = 0

    /// A further user or event beyond these is rare.
    private static let (users, events) = (4, 6)

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func next(_ model: APIModel) -> APIModel.Request {
        count += 1
        let request = choose(model)
        sent.append(request)
        return request
    }

    private mutating func choose(_ model: APIModel) -> APIModel.Request {
        let tokens = model.users.keys.sorted()
        guard let token = tokens.randomElement(using: &generator),
            !generator.happens(inPercent: tokens.count < Self.users ? 30 : 1)
        else { return APIModel.Request(method: "POST", path: "/v1/users", token: "device-\(count)") }
        guard let event = model.events.keys.sorted().suffix(Self.events * 2).randomElement(using: &generator) else {
            return creation(token)
        }
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<22: return repetition(model) ?? creation(token)
        case ..<28: return underUsedKey(command("PUT", "/v1/events/\(event)/attendance", token))
        case ..<32:
            let body = #"{"device_token":"device-\#(generator.happens(inPercent: 80) ? count : count / 2)"}"#
            return APIModel.Request(method: "POST", path: "/v1/users/me/token", body: body, token: token)
        case ..<34: return APIModel.Request(method: "POST", path: "/v1/users", token: token)
        case ..<(model.events.count < Self.events ? 50 : 38): return creation(token)
        case ..<62: return command("PUT", "/v1/events/\(event)/attendance", token)
        case ..<86: return command("DELETE", "/v1/events/\(event)/attendance", token)
        case ..<94: return command("PATCH", "/v1/events/\(event)", token, body: details)
        case ..<98: return command("DELETE", "/v1/events/\(event)", token)
        default: return command("PUT", "/v1/events/\(event + 1_000)/attendance", token)
        }
    }

    /// An earlier request again: with its token, which may be dead, or with the present token of the same user.
    private mutating func repetition(_ model: APIModel) -> APIModel.Request? {
        guard var request = sent.randomElement(using: &generator) else { return nil }
        // Most of the old tokens are dead soon.
        if request.path != "/v1/users/me/token", model.users[request.token] == nil, generator.happens(inPercent: 80),
            let token = model.users.keys.sorted().randomElement(using: &generator)
        {
            request.token = token
        }
        return request
    }

    private mutating func underUsedKey(_ request: APIModel.Request) -> APIModel.Request {
        var request = request
        request.key = sent.compactMap(\.key).randomElement(using: &generator)
        return request
    }

    private mutating func creation(_ token: String) -> APIModel.Request { command("POST", "/v1/events", token, body: details) }

    private mutating func command(
        _ method: String, _ path: String, _ token: String, body: String = ""
    ) -> APIModel.Request {
        APIModel.Request(
            method: method, path: path, body: body, token: token, key: generator.happens(inPercent: 60) ? "key-\(count)" : nil)
    }

    private var details: String { #"{"name":"Party \#(count)","lat":1,"lon":2,"started_at":"2033-09-16T00:00:00Z"}"# }
}
