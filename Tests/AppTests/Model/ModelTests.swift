import EventStore
import Foundation
import NIOHTTP1
import TestChance
import TestDatabase
import TestServer
import Testing

@Suite(.emptyDatabase, .directory) struct `Two servers and a model of the API` {
    /// Another seed finds other things: each is a test of its own.
    @Test(arguments: [1, 2, 3])
    func `600 random commands with keys, repetitions and changed tokens get the answers of the model`(seed: UInt64) async throws {
        try await HumonProcess.withServer(in: directory, environment: environment) { _, first in
            try await HumonProcess.withServer(in: directory, environment: environment) { _, second in
                var comparison = Comparison(seed: seed, ports: [first, second])
                for step in 0..<600 { try await comparison.carryOut(step) }
                #expect(comparison.statuses.isSuperset(of: [200, 401, 403, 404, 410, 422]))
            }
        }
    }
}

/// Sends commands to either server, and compares each answer, and what another request reads afterwards, with the model.
private struct Comparison {
    private struct Received {
        var answer: APIModel.Answer
        var position: LogCursor?
    }

    struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    private let seed: UInt64
    private let ports: [Int]
    private var model = APIModel()
    private var commands: RandomCommands
    private var generator: SeededGenerator
    /// Of the last answer that names one.
    private var position: LogCursor?
    private(set) var statuses: Set<Int> = []

    init(seed: UInt64, ports: [Int]) {
        self.seed = seed
        self.ports = ports
        commands = RandomCommands(seed: seed)
        generator = SeededGenerator(seed: seed, 1)
    }

    mutating func carryOut(_ step: Int) async throws {
        let request = commands.next(model)
        let received = try await send(request)
        let id = received.answer.body.firstMatch(of: /"id":(\d+)/).flatMap { Int64($0.1) } ?? 0
        try expect(model.answer(to: request, creating: id), received.answer, "\(request)", step)
        statuses.insert(received.answer.status)
        if received.position?.position ?? 0 > position?.position ?? 0 { position = received.position }
        if let event = request.path.firstMatch(of: /events\/(\d+)/).flatMap({ Int64($0.1) }) {
            try await read(event, after: request, step)
        }
    }

    private mutating func read(_ event: Int64, after request: APIModel.Request, _ step: Int) async throws {
        guard let token = model.users[request.token] == nil ? model.users.keys.min() : request.token else { return }
        let attendance = try await send(
            APIModel.Request(method: "GET", path: "/v1/events/\(event)/attendance", token: token))
        try expect(model.attendance(of: event, token: token), attendance.answer, "attendances after \(request)", step)
        guard let expected = model.events[event], !expected.isCancelled else { return }
        let shown = try await send(APIModel.Request(method: "GET", path: "/v1/events/\(event)", token: token))
        let named = APIModel.Answer(status: shown.answer.status, body: name(in: shown.answer.body))
        try expect(APIModel.Answer(status: 200, body: expected.name), named, "name after \(request)", step)
    }

    private func name(in body: String) -> String { body.firstMatch(of: /"name":"([^"]*)"/).map { String($0.1) } ?? "" }

    private func expect(
        _ expected: APIModel.Answer, _ answer: APIModel.Answer, _ what: String, _ step: Int
    ) throws {
        guard answer != expected else { return }
        throw Difference(description: "seed \(seed), step \(step): \(what): expected \(expected), got \(answer)")
    }

    private mutating func send(_ request: APIModel.Request) async throws -> Received {
        var headers = [
            ("tb-device-token", request.token), ("tb-app-secret", HumonProcess.secret), ("content-type", "application/json"),
        ]
        if let key = request.key { headers.append(("idempotency-key", key)) }
        // Both servers must show every earlier write.
        if request.method == "GET", let position { headers.append(("humon-position", "\(position)")) }
        let port = ports.randomElement(using: &generator) ?? 0
        let received = try await exchange(
            request.method, "http://127.0.0.1:\(port)\(request.path)", headers: headers, body: request.body)
        return Received(
            answer: APIModel.Answer(status: received.status, body: received.body),
            position: received.headers.first(name: "humon-position").flatMap(LogCursor.init))
    }
}
