import Encoding
import Foundation
import TestChance

/// One client: sends seeded commands, one after the other, each again and again until it is answered, and writes down what it
/// was told.
struct FaultInjectionClient: Sendable {
    /// For answers that are awaited; longer than any statement of the server's.
    private static let patience = Duration.seconds(20)

    let number: Int
    let seed: UInt64
    let fleet: Fleet
    let pace: Pace
    let neighbourhood: Neighbourhood
    var sabotage: ClientSabotage?

    private var family: Int { number / 2 }

    struct Request: Sendable {
        var method = "POST"
        var path: String
        var headers: [(String, String)] = []
        var body = ""
        var key: String?
        /// Whether doing it twice is doing it once, by its key or by nature.
        var isRepeatable: Bool
    }

    struct Device: Sendable {
        var token: String
        var user: Int64
    }

    /// What it has learnt so far.
    private struct Memory {
        var record = ClientsRecord()
        var devices: [Device] = []
        var lastKeyed: Request?
    }

    func run(_ commands: Range<Int>) async -> ClientsRecord {
        var index = Memory()
        for command in commands {
            guard await pace.mayStart(command) else { break }
            var generator = SeededGenerator(seed: seed, 2, number, command)
            await perform(command, &index, &generator)
            pace.finishedOne()
        }
        return index.record
    }

    private func perform(_ command: Int, _ index: inout Memory, _ generator: inout SeededGenerator) async {
        guard let device = index.devices.first else {
            return await signUp(command, token: "device of family \(family) of \(seed)", &index, &generator)
        }
        let own = neighbourhood.event(of: family, &generator)
        let other = neighbourhood.event(of: (family + Int.random(in: 1...3, using: &generator)) % 4, &generator)
        switch (Int.random(in: 0..<100, using: &generator), own, other) {
        case (0..<10, _, _):
            let repeats = generator.happens(inPercent: 30)
            let token = repeats ? device.token : "device \(number)-\(command) of \(seed)"
            await signUp(command, token: token, &index, &generator)
        case (10..<40, let own?, _): await update(command, own, device, &index, &generator)
        case (40..<60, _, let event?): await attend(command, event, &index, &generator)
        case (60..<80, let own?, let other?):
            await askForRefusal(command, own: own, other: other, device, &index, &generator)
        default: await create(command, device, &index, &generator)
        }
    }

    // MARK: Commands

    private func signUp(
        _ command: Int, token: String, _ index: inout Memory, _ generator: inout SeededGenerator
    ) async {
        let headers = [("tb-app-secret", Fleet.secret), ("tb-device-token", token)]
        let request = Request(path: "/v1/users", headers: headers, isRepeatable: true)
        let answer = await deliver(request, command, &index, &generator)
        let user = answer.flatMap { id(in: $0) }
        if let user, answer?.status == 200 { index.devices.append(Device(token: token, user: user)) }
        write(command, "sign-up", Mark.device(token), "UserCreated", user.map { "user-\($0)" }, answer, &index)
    }

    private func create(
        _ command: Int, _ device: Device, _ index: inout Memory, _ generator: inout SeededGenerator
    ) async {
        var request = Request(
            path: "/v1/events", headers: [("tb-device-token", device.token)], body: details(command), isRepeatable: false)
        if generator.happens(inPercent: 90) { key(&request, command) }
        let answer = await deliver(request, command, &index, &generator)
        let event = answer.flatMap { id(in: $0) }
        if let event, answer?.status == 200 {
            neighbourhood.add(event, of: family)
            if request.key != nil { index.lastKeyed = request }
        }
        await readBack(event, answer, "client \(number)'s command \(command), creation", &index, &generator)
        write(command, "creation", mark(command), "EventCreated", event.map { "event-\($0)" }, answer, &index)
    }

    private func update(
        _ command: Int, _ event: Int64, _ device: Device, _ index: inout Memory, _ generator: inout SeededGenerator
    ) async {
        var request = Request(
            method: generator.happens(inPercent: 50) ? "PATCH" : "PUT", path: "/v1/events/\(event)",
            headers: [("tb-device-token", device.token)], body: details(command), isRepeatable: false)
        if generator.happens(inPercent: 90) { key(&request, command) }
        // The other client of the family may be faster.
        let isConditional = generator.happens(inPercent: 30)
        if isConditional, let etag = await read(event, &index)?.etag { request.headers.append(("if-match", etag)) }
        let answer = await deliver(request, command, mayRefuse: isConditional ? 412 : nil, &index, &generator)
        await readBack(event, answer, "client \(number)'s command \(command), update", &index, &generator)
        write(command, "update", mark(command), "EventUpdated", "event-\(event)", answer, &index)
    }

    private func attend(
        _ command: Int, _ event: Int64, _ index: inout Memory, _ generator: inout SeededGenerator
    ) async {
        guard let device = index.devices.randomElement(using: &generator) else { return }
        var request = Request(
            path: "/v1/attendances", headers: [("tb-device-token", device.token)], body: #"{"event":{"id":\#(event)}}"#,
            isRepeatable: true)
        if generator.happens(inPercent: 50) { key(&request, command) }
        let answer = await deliver(request, command, &index, &generator)
        let stream = Mark.attendance(event: event, user: device.user)
        write(command, "attendance", stream, "AttendanceAdded", stream, answer, &index)
    }

    /// What is refused carries a mark that must never be found in the log.
    private func askForRefusal(
        _ command: Int, own: Int64, other: Int64, _ device: Device, _ index: inout Memory,
        _ generator: inout SeededGenerator
    ) async {
        var request = Request(
            method: "PATCH", path: "/v1/events/\(own)", headers: [("tb-device-token", device.token)], body: details(command),
            isRepeatable: true)
        let status: Int
        switch (Int.random(in: 0..<5, using: &generator), index.lastKeyed) {
        case (0, _):
            request.body = #"{"name":"\#(mark(command))","lat":91,"lon":0}"#
            status = 422
        case (1, _):
            request.path = "/v1/events/\(other)"
            status = 403
        case (2, _):
            request.headers.append(("if-match", "\"0\""))
            status = 412
        case (3, let last?):
            request = last
            request.body = details(command)
            status = 422
        default:
            request.headers = [("tb-device-token", "nobody's")]
            status = 401
        }
        if request.key == nil, generator.happens(inPercent: 50) { key(&request, command) }
        let answer = await deliver(request, command, mayRefuse: status, &index, &generator)
        if let answer, answer.status != status {
            complain(
                .answers, "client \(number)'s command \(command) was to be refused with \(status), not \(answer.status)", &index)
        }
        let type = request.method == "POST" ? "EventCreated" : "EventUpdated"
        write(
            command, "refusable \(status)", mark(command), type, request.path.replacing("/v1/events/", with: "event-"), answer,
            &index)
    }

    // MARK: Sending

    /// Until it is answered with 2xx or 4xx, on one node after the other; nil where it never was, or may not be asked again.
    private func deliver(
        _ request: Request, _ command: Int, mayRefuse: Int? = nil, _ index: inout Memory, _ generator: inout SeededGenerator
    ) async -> Fleet.Answer? {
        let start = ContinuousClock.now
        let first = Int.random(in: 0...1, using: &generator)
        // Now and then a client gives up at once, as one that loses its network does, and asks again.
        let haste: Duration? =
            generator.happens(inPercent: 10) ? .milliseconds(Int.random(in: 1...30, using: &generator)) : nil
        let repeats = generator.happens(inPercent: 25)
        let answer = await ask(request, first, haste: haste, &index)
        index.record.longestWait = max(index.record.longestWait, ContinuousClock.now - start)
        guard let answer else {
            index.record.unanswered += 1
            return nil
        }
        if answer.status >= 400, answer.status != mayRefuse {
            complain(
                .answers, "client \(number)'s command \(command) was answered with \(answer.status): \(answer.body)", &index)
        }
        if answer.status < 300, request.isRepeatable, repeats, sabotage != .freshKeys {
            await sendAgain(request, first + 1, command, answer, &index)
        }
        return answer
    }

    private func sendAgain(
        _ request: Request, _ first: Int, _ command: Int, _ answer: Fleet.Answer, _ index: inout Memory
    ) async {
        index.record.repeated += 1
        guard let again = await ask(request, first, haste: nil, &index), !again.isSame(as: answer) else { return }
        complain(
            .repetition,
            "client \(number)'s command \(command) was answered \(answer.status) \(answer.body), and again \(again.status) \(again.body)",
            &index)
    }

    private func ask(_ request: Request, _ first: Int, haste: Duration?, _ index: inout Memory) async -> Fleet.Answer? {
        for attempt in 0... {
            var headers = request.headers
            if let key = request.key, sabotage != .dropsKeys {
                headers.append(("idempotency-key", sabotage == .freshKeys ? "\(key)-\(attempt)" : key))
            }
            index.record.requests += 1
            do {
                let answer = try await fleet.send(
                    request.method, request.path, to: (first + attempt) % 2, headers: headers, body: request.body,
                    patience: attempt == 0 ? haste ?? Self.patience : Self.patience)
                let isLost = sabotage == .freshKeys && request.key != nil && attempt == 0
                if answer.status < 500, !isLost { return answer }
                if answer.status >= 500, answer.status != 503 {
                    complain(.answers, "\(request.method) \(request.path) was answered \(answer)", &index)
                }
            } catch {
                // Lost, refused or given up: nobody knows.
            }
            guard request.isRepeatable, !pace.isOver else { return nil }
            try? await Task.sleep(for: .milliseconds(min(5 << min(attempt, 5), 100)))
        }
        return nil
    }

    private func read(_ event: Int64, _ index: inout Memory) async -> Fleet.Answer? {
        await ask(Request(method: "GET", path: "/v1/events/\(event)", isRepeatable: true), 0, haste: nil, &index)
    }

    /// Now and then, on either server: both must show what was written.
    private func readBack(
        _ event: Int64?, _ answer: Fleet.Answer?, _ name: String, _ index: inout Memory, _ generator: inout SeededGenerator
    ) async {
        guard let event, let answer, answer.status == 200, generator.happens(inPercent: 40) else { return }
        guard let position = answer.position else {
            return complain(.readings, "the answer to \(name) names no position", &index)
        }
        let request = Request(
            method: "GET", path: "/v1/events/\(event)", headers: [("humon-position", "\(position)")], isRepeatable: true)
        let node = Int.random(in: 0...1, using: &generator)
        guard let shown = await ask(request, node, haste: nil, &index) else { return }
        let version = shown.etag.flatMap { Int32($0.filter(\.isNumber)) }
        index.record.readings.append(
            ReadingRecord(name: name, stream: "event-\(event)", position: position, version: version))
    }

    // MARK: Words

    private func mark(_ command: Int) -> String { Mark.text(client: number, command: command) }

    private func details(_ command: Int) -> String {
        #"{"name":"\#(mark(command))","lat":\#(command % 90),"lon":\#(number),"started_at":"2013-09-16T00:00:00Z"}"#
    }

    private func key(_ request: inout Request, _ command: Int) {
        request.key = "key-\(seed)-\(number)-\(command)"
        request.isRepeatable = true
    }

    private func id(in answer: Fleet.Answer) -> Int64? {
        (try? JSON(utf8: answer.body.utf8))?["id"].flatMap(\.integer)
    }

    private func complain(_ check: Check, _ sentence: String, _ index: inout Memory) {
        index.record.complaints.append(Violation(check: check, sentence: sentence))
    }

    private func write(
        _ command: Int, _ what: String, _ mark: String, _ type: String, _ stream: String?, _ answer: Fleet.Answer?,
        _ index: inout Memory
    ) {
        let fate: CommandRecord.Fate =
            switch answer?.status {
            case nil: .unknown
            case let status? where sabotage == .tellsRefusals: .refused(status: status)
            case let status? where status < 300 || sabotage == .believesRefusals: .acknowledged
            case let status?: .refused(status: status)
            }
        index.record.commands.append(
            CommandRecord(
                name: "client \(number)'s command \(command), \(what)", mark: mark, type: type, stream: stream, fate: fate))
    }
}

extension JSON {
    fileprivate var integer: Int64? { if case .number(let digits) = self { Int64(parsing: digits) } else { nil } }
}
