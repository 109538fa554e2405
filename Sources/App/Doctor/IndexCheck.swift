internal import AsyncHTTPClient
internal import Encoding
internal import EventStore
internal import NIOCore
internal import NIOHTTP1

/// Whether the server that the settings name holds in its memory what the read model says.
struct IndexCheck: Sendable {
    static let name = "index"
    /// A server that is there accepts at once.
    private static let connectTimeout = TimeAmount.seconds(2)
    private static let answerLimitBytes = 1 << 20

    let settings: Settings

    private var address: String { settings.adminAddress(port: settings.adminPort) }

    func look() async -> Check {
        guard settings.adminPort != 0 else { return Check(Self.name, .ok, "not looked at: HUMON_ADMIN_PORT names no port") }
        let (status, answer): (UInt, JSON)
        do {
            (status, answer) = try await Deadline.run(ask)
        } catch is Deadline.Exceeded {
            return Check(
                Self.name, .warn,
                "the server on \(address) has not compared all events within \(Field.duration(seconds: Deadline.seconds))",
                hint: "Ask \(address)/index/check itself, which takes the time that it needs.")
        } catch is JSONSyntaxError {
            return Check(Self.name, .warn, "what answers on \(address) is no humon", hint: "See what HUMON_ADMIN_PORT names.")
        } catch {
            return Check(Self.name, .ok, "no server answers on \(address), so there is nothing to compare")
        }
        return Self.check(status: status, answer)
    }

    @Sendable private func ask() async throws -> (status: UInt, answer: JSON) {
        var configuration = HTTPClient.Configuration(timeout: .init(connect: Self.connectTimeout))
        // A refused connection says all there is to know: no server listens there.
        configuration.connectionPool.retryConnectionEstablishment = false
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            var request = HTTPClientRequest(url: address + "/index/check")
            if let token = settings.adminToken { request.headers.add(name: "authorization", value: "Bearer \(token)") }
            let response = try await client.execute(request, deadline: .distantFuture)
            let body = try await response.body.collect(upTo: Self.answerLimitBytes)
            return (response.status.code, try JSON(utf8: Array(buffer: body)))
        }
    }

    /// - Parameter answer: of `/index/check`
    static func check(status: UInt, _ answer: JSON) -> Check {
        guard status != 401 else {
            return Check(
                name, .warn, "was not compared: the server asks for another token",
                hint: "Set HUMON_ADMIN_TOKEN, or HUMON_ADMIN_TOKEN_FILE, to what the server has.")
        }
        guard status == 200, let events = answer["events"]?.storedInteger, let position = answer["position"]?.storedInteger,
            let differing = answer["differing"]?.storedInteger
        else { return notCompared(answer) }
        guard differing > 0 else {
            return Check(
                name, .ok,
                "holds all \(Field.grouped(events)) events as the read model has them at position \(Field.grouped(position))")
        }
        let first: String = if case .array(let found) = answer["differences"] { found.first?.storedString ?? "" } else { "" }
        return Check(
            name, .bad,
            "differs from the read model in \(Field.grouped(differing)) events at position \(Field.grouped(position)): \(first)",
            hint: "Run humon projections verify events. If it finds no difference, restart the server, and report this.")
    }

    private static func notCompared(_ answer: JSON) -> Check {
        switch answer["index"]?.storedString {
        case "off": Check(name, .ok, "is off: events are read from PostgreSQL")
        case "filling": Check(name, .warn, "is being filled", hint: "Look again in a moment.")
        case "too_small":
            Check(
                name, .warn, "is too small: events are read from PostgreSQL",
                hint: "Raise HUMON_INDEX_MEGABYTES, if the machine has more, and restart the server.")
        case "interrupted":
            Check(
                name, .bad, "was given up: events are read from PostgreSQL",
                hint: "The server's log says why. It tries again by itself.")
        default:
            Check(
                name, .bad, "could not be compared: \(answer["message"]?.storedString ?? "the server does not say why")",
                hint: "See the server's log.")
        }
    }
}
