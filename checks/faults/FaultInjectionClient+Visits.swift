import EventStore
import TestChance

extension FaultInjectionClient {
    /// A user of this command alone attends an event and leaves it. Without their keys, a late PUT would follow the DELETE.
    func visit(
        _ command: Int, _ event: Int64, _ state: inout State, _ generator: inout SeededGenerator
    ) async {
        guard let device = await signUp(command, token: "visitor \(number)-\(command) of \(seed)", &state, &generator) else {
            return
        }
        let stream = Mark.attendance(event: event, user: device.user)
        for (method, mark, type) in [
            ("PUT", stream, "AttendanceAdded"), ("DELETE", Mark.leaving(stream), "AttendanceRemoved"),
        ] {
            let request = Request(
                method: method, path: "/v1/events/\(event)/attendance", headers: [("tb-device-token", device.token)],
                key: "\(method)-\(seed)-\(number)-\(command)", isRepeatable: true)
            // The event may be cancelled meanwhile.
            let response = await deliver(request, command, mayRefuse: [410], &state, &generator)
            write(command, "visit by \(method)", mark, type, stream, response, &state)
            guard let response, response.status == 200 else { return }
            await expectAttendance(method == "PUT", event, device, after: response, command, &state, &generator)
        }
    }

    /// Asks either server: both must show the write.
    private func expectAttendance(
        _ isAttending: Bool, _ event: Int64, _ device: Device, after response: Fleet.Response, _ command: Int,
        _ state: inout State, _ generator: inout SeededGenerator
    ) async {
        let headers = [("tb-device-token", device.token), ("humon-position", response.position?.description ?? "0")]
        let request = Request(
            method: "GET", path: "/v1/events/\(event)/attendance", headers: headers, isRepeatable: true)
        let node = Int.random(in: 0...1, using: &generator)
        guard let shown = await ask(request, node, haste: nil, &state), shown.status == 200,
            !shown.body.contains(#""attending":\#(isAttending)"#)
        else { return }
        complain(.readings, "after client \(number)'s command \(command) the attendance was \(shown.body)", &state)
    }
}
