import Encoding
import Foundation
import TestChance

/// A client that sends seeded commands one after the other, repeats each until a response arrives, and records the responses.
struct FaultInjectionClient: Sendable {
    let number: Int
    let seed: UInt64
    let fleet: Fleet
    let pace: Pace
    let knownEvents: KnownEvents
    var sabotage: ClientSabotage?

    private var family: Int { number / 2 }

    struct Request: Sendable {
        var method = "POST"
        var path: String
        var headers: [(String, String)] = []
        var body = ""
        var key: String?
        /// Whether the request may be repeated, because of its idempotency key or because it is idempotent by nature.
        var isRepeatable: Bool
    }

    struct Device: Sendable {
        var token: String
        var user: Int64
    }

    /// The client's knowledge so far.
    struct State {
        var record = ClientsRecord()
        var devices: [Device] = []
        var lastKeyed: Request?
        var account: Account?
    }

    func run(_ commands: Range<Int>) async -> ClientsRecord {
        var state = State()
        for command in commands {
            guard await pace.mayStart(command) else { break }
            var generator = SeededGenerator(seed: seed, 2, number, command)
            await perform(command, &state, &generator)
            pace.finishedOne()
        }
        return state.record
    }

    private func perform(_ command: Int, _ state: inout State, _ generator: inout SeededGenerator) async {
        guard let device = state.devices.first else {
            let token = "device of family \(family) of \(seed)"
            return await keep(signUp(command, token: token, &state, &generator), &state)
        }
        let own = knownEvents.event(of: family, &generator)
        let other = knownEvents.event(of: (family + Int.random(in: 1...3, using: &generator)) % 4, &generator)
        switch (Int.random(in: 0..<100, using: &generator), own, other) {
        case (0..<10, _, _):
            let repeats = generator.happens(inPercent: 30)
            let token = repeats ? device.token : "device of client \(number)-\(command) of \(seed)"
            await keep(signUp(command, token: token, &state, &generator), &state)
        case (10..<40, let own?, _): await update(command, own, device, &state, &generator)
        case (40..<43, let own?, _): await cancel(command, own, device, &state, &generator)
        case (43..<54, _, let event?): await attend(command, event, &state, &generator)
        case (54..<60, _, let event?): await visit(command, event, &state, &generator)
        case (60..<80, let own?, let other?):
            await askForRefusal(command, own: own, other: other, device, &state, &generator)
        case (80..<92, _, _): await useAccount(command, &state, &generator)
        case (92..<94, _, _): await visitPage(command, &state, &generator)
        default: await create(command, device, &state, &generator)
        }
    }

    // MARK: Commands

    private func keep(_ device: Device?, _ state: inout State) { if let device { state.devices.append(device) } }

    func signUp(
        _ command: Int, token: String, _ state: inout State, _ generator: inout SeededGenerator
    ) async -> Device? {
        let headers = [("tb-app-secret", Fleet.secret), ("tb-device-token", token)]
        let request = Request(path: "/v1/users", headers: headers, isRepeatable: true)
        let response = await deliver(request, command, &state, &generator)
        let user = response.flatMap { id(in: $0) }
        write(command, "sign-up", Mark.device(token), "UserCreated", user.map { "user-\($0)" }, response, &state)
        return response?.status == 200 ? user.map { Device(token: token, user: $0) } : nil
    }

    private func create(
        _ command: Int, _ device: Device, _ state: inout State, _ generator: inout SeededGenerator
    ) async {
        var request = Request(
            path: "/v1/events", headers: [("tb-device-token", device.token)], body: details(command), isRepeatable: false)
        if generator.happens(inPercent: 90) { key(&request, command) }
        let response = await deliver(request, command, &state, &generator)
        let event = response.flatMap { id(in: $0) }
        if let event, response?.status == 200 {
            knownEvents.add(event, of: family)
            if request.key != nil { state.lastKeyed = request }
        }
        await readBack(event, response, "client \(number)'s command \(command), creation", &state, &generator)
        write(command, "creation", mark(command), "EventCreated", event.map { "event-\($0)" }, response, &state)
    }

    private func update(
        _ command: Int, _ event: Int64, _ device: Device, _ state: inout State, _ generator: inout SeededGenerator
    ) async {
        var request = Request(
            method: generator.happens(inPercent: 50) ? "PATCH" : "PUT", path: "/v1/events/\(event)",
            headers: [("tb-device-token", device.token)], body: details(command), isRepeatable: false)
        if generator.happens(inPercent: 90) { key(&request, command) }
        // The family's other client may update the event first.
        let isConditional = generator.happens(inPercent: 30)
        if isConditional, let etag = await read(event, &state)?.etag { request.headers.append(("if-match", etag)) }
        let response = await deliver(request, command, mayRefuse: isConditional ? [410, 412] : [410], &state, &generator)
        await readBack(event, response, "client \(number)'s command \(command), update", &state, &generator)
        write(command, "update", mark(command), "EventUpdated", "event-\(event)", response, &state)
    }

    /// All cancellations of an event are one command, which records one event. Updates and attendances may get 410 afterwards.
    private func cancel(
        _ command: Int, _ event: Int64, _ device: Device, _ state: inout State, _ generator: inout SeededGenerator
    ) async {
        var request = Request(
            method: "DELETE", path: "/v1/events/\(event)", headers: [("tb-device-token", device.token)], isRepeatable: true)
        if generator.happens(inPercent: 50) { key(&request, command) }
        let response = await deliver(request, command, &state, &generator)
        write(
            command, "cancellation", Mark.cancellation(event: event), "EventCancelled", "event-\(event)", response, &state)
    }

    private func attend(
        _ command: Int, _ event: Int64, _ state: inout State, _ generator: inout SeededGenerator
    ) async {
        guard let device = state.devices.randomElement(using: &generator) else { return }
        var request = Request(
            path: "/v1/attendances", headers: [("tb-device-token", device.token)], body: #"{"event":{"id":\#(event)}}"#,
            isRepeatable: true)
        if generator.happens(inPercent: 50) { key(&request, command) }
        let response = await deliver(request, command, mayRefuse: [410], &state, &generator)
        let stream = Mark.attendance(event: event, user: device.user)
        // Without a key, an earlier attempt may have been recorded before the event was cancelled.
        let isUnknown = response?.status == 410 && request.key == nil
        write(command, "attendance", stream, "AttendanceAdded", stream, isUnknown ? nil : response, &state)
    }

    /// A command that must be refused carries a mark that must never appear in the log.
    private func askForRefusal(
        _ command: Int, own: Int64, other: Int64, _ device: Device, _ state: inout State,
        _ generator: inout SeededGenerator
    ) async {
        var request = Request(
            method: "PATCH", path: "/v1/events/\(own)", headers: [("tb-device-token", device.token)], body: details(command),
            isRepeatable: true)
        let status: Int
        switch (Int.random(in: 0..<5, using: &generator), state.lastKeyed) {
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
        // The event may be cancelled, which comes before its version.
        let mayBeGone = status == 412
        let response = await deliver(request, command, mayRefuse: mayBeGone ? [status, 410] : [status], &state, &generator)
        if let response, response.status != status, !mayBeGone || response.status != 410 {
            complain(
                .responses, "client \(number)'s command \(command) expected \(status) and got \(response.status)", &state)
        }
        let type = request.method == "POST" ? "EventCreated" : "EventUpdated"
        write(
            command, "refusable \(status)", mark(command), type, request.path.replacing("/v1/events/", with: "event-"), response,
            &state)
    }

    // MARK: Words

    func mark(_ command: Int) -> String { Mark.text(client: number, command: command) }

    private func details(_ command: Int) -> String {
        #"{"name":"\#(mark(command))","lat":\#(command % 90),"lon":\#(number),"started_at":"2013-09-16T00:00:00Z"}"#
    }

    func key(_ request: inout Request, _ command: Int) {
        request.key = "key-\(seed)-\(number)-\(command)"
        request.isRepeatable = true
    }

    private func id(in response: Fleet.Response) -> Int64? {
        (try? JSON(utf8: response.body.utf8))?["id"].flatMap(\.integer)
    }

    func complain(_ check: Check, _ sentence: String, _ state: inout State) {
        state.record.complaints.append(Violation(check: check, sentence: sentence))
    }

    func write(
        _ command: Int, _ what: String, _ mark: String, _ type: String, _ stream: String?, _ response: Fleet.Response?,
        _ state: inout State
    ) {
        let fate: CommandRecord.Fate =
            switch response?.status {
            case nil: .unknown
            case let status? where sabotage == .reportsRefusals: .refused(status: status)
            case let status? where status < 300 || sabotage == .believesRefusals: .acknowledged
            case let status?: .refused(status: status)
            }
        state.record.commands.append(
            CommandRecord(
                name: "client \(number)'s command \(command), \(what)", mark: mark, type: type, stream: stream, fate: fate))
    }
}

extension JSON {
    var integer: Int64? { if case .number(let digits) = self { Int64(parsing: digits) } else { nil } }
}
