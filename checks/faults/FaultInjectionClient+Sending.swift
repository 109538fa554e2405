import EventStore
import TestChance

extension FaultInjectionClient {
    /// Maximum time to wait for a response; longer than any statement of the server.
    private static let patience = Duration.seconds(20)

    /// Sends a request to both nodes in turn until a 2xx or 4xx response. Returns nil if none came, or if the request must not
    /// be repeated.
    func deliver(
        _ request: Request, _ command: Int, mayRefuse: Set<Int> = [], _ state: inout State, _ generator: inout SeededGenerator
    ) async -> Fleet.Response? {
        let start = ContinuousClock.now
        let first = Int.random(in: 0...1, using: &generator)
        // In 10 % of requests the client gives up early, as one that loses its network, and repeats the request.
        let haste: Duration? =
            generator.happens(inPercent: 10) ? .milliseconds(Int.random(in: 1...30, using: &generator)) : nil
        let repeats = generator.happens(inPercent: 25)
        let response = await ask(request, first, haste: haste, &state)
        state.record.longestWait = max(state.record.longestWait, ContinuousClock.now - start)
        guard let response else {
            state.record.unanswered += 1
            return nil
        }
        if response.status >= 400, !mayRefuse.contains(response.status) {
            complain(
                .responses, "client \(number)'s command \(command) got \(response.status): \(response.body)", &state)
        }
        if response.status < 300, request.isRepeatable, repeats, sabotage != .freshKeys {
            await sendAgain(request, first + 1, command, response, &state)
        }
        return response
    }

    private func sendAgain(
        _ request: Request, _ first: Int, _ command: Int, _ response: Fleet.Response, _ state: inout State
    ) async {
        state.record.repeated += 1
        guard let again = await ask(request, first, haste: nil, &state), !again.isSame(as: response) else { return }
        if again.status == 410, request.key == nil { return }
        complain(
            .repetition,
            "client \(number)'s command \(command) got \(response.status) \(response.body), and then \(again.status) \(again.body)",
            &state)
    }

    func ask(_ request: Request, _ first: Int, haste: Duration?, _ state: inout State) async -> Fleet.Response? {
        for attempt in 0... {
            var headers = request.headers
            if let key = request.key, sabotage != .dropsKeys {
                headers.append(("idempotency-key", sabotage == .freshKeys ? "\(key)-\(attempt)" : key))
            }
            state.record.requests += 1
            do {
                let response = try await fleet.send(
                    request.method, request.path, to: (first + attempt) % 2, headers: headers, body: request.body,
                    patience: attempt == 0 ? haste ?? Self.patience : Self.patience)
                let isLost = sabotage == .freshKeys && request.key != nil && attempt == 0
                if response.status < 500, !isLost { return response }
                if response.status >= 500, response.status != 503 {
                    complain(.responses, "\(request.method) \(request.path) got \(response)", &state)
                }
            } catch {
                // The response was lost or the client gave up, so the result is unknown.
            }
            guard request.isRepeatable, !pace.isOver else { return nil }
            try? await Task.sleep(for: .milliseconds(min(5 << min(attempt, 5), 100)))
        }
        return nil
    }

    func read(_ event: Int64, _ state: inout State) async -> Fleet.Response? {
        await ask(Request(method: "GET", path: "/v1/events/\(event)", isRepeatable: true), 0, haste: nil, &state)
    }

    /// Reads the event from either server in 40 % of cases: both must show the write.
    func readBack(
        _ event: Int64?, _ response: Fleet.Response?, _ name: String, _ state: inout State, _ generator: inout SeededGenerator
    ) async {
        guard let event, let response, response.status == 200, generator.happens(inPercent: 40) else { return }
        guard let position = response.position else {
            return complain(.readings, "the response to \(name) names no position", &state)
        }
        let request = Request(
            method: "GET", path: "/v1/events/\(event)", headers: [("humon-position", "\(position)")], isRepeatable: true)
        let node = Int.random(in: 0...1, using: &generator)
        guard let shown = await ask(request, node, haste: nil, &state) else { return }
        let version = shown.etag.flatMap { Int32($0.filter(\.isNumber)) }
        state.record.readings.append(
            ReadingRecord(
                name: name, stream: "event-\(event)", position: position.position, version: version, isGone: shown.status == 410))
    }
}
