internal import Encoding
internal import EventStore
internal import HTTP
internal import HTTPServer
internal import NIOCore
internal import NIOHTTP1
internal import Postgres

/// Checks whether the index of the server on HUMON_ADMIN_PORT equals the read model, and whether that server has this log.
struct IndexCheck: Sendable {
    static let name = "index"

    /// A running server accepts connections immediately.
    private static let connectTimeout = TimeAmount.seconds(2)
    private static let answerLimitBytes = 1 << 20

    let settings: Settings
    let client: PostgresClient

    private var address: String { settings.adminAddress(port: settings.adminPort) }

    func look() async -> DoctorLine {
        guard settings.apps.contains(.events) else {
            return DoctorLine(Self.name, .ok, "not checked: HUMON_APPS leaves the map of events out")
        }
        guard settings.adminPort != 0 else { return DoctorLine(Self.name, .ok, "not checked: HUMON_ADMIN_PORT is 0") }
        let (status, answer): (UInt, JSON)
        do {
            (status, answer) = try await Deadline.run(within: DoctorLine.seconds, ask)
        } catch is Deadline.Exceeded {
            return DoctorLine(
                Self.name, .warn,
                "the server on \(address) has not compared all events within \(Figure.duration(seconds: DoctorLine.seconds))",
                hint: "Request \(address)/index/check yourself: it has no time limit.")
        } catch is JSONSyntaxError {
            return DoctorLine(Self.name, .warn, "the server on \(address) is not humon", hint: "Check HUMON_ADMIN_PORT.")
        } catch {
            return DoctorLine(Self.name, .ok, "no server answers on \(address), so there is nothing to compare")
        }
        guard status == 200 else { return Self.check(status: status, answer) }
        return await DoctorLine.looking(at: Self.name) { [self] in
            guard let cursor = answer["cursor"]?.storedString.flatMap(LogCursor.init), try await hasLog(with: cursor) else {
                return DoctorLine(
                    Self.name, .warn, "was not compared: the server on \(address) has another log",
                    hint: "Check DATABASE_URL and HUMON_ADMIN_PORT, or whether this database was restored while the server ran.")
            }
            return Self.check(status: status, answer)
        }
    }

    /// Whether this database has the recorded event at the cursor. An empty log has none.
    private func hasLog(with cursor: LogCursor) async throws -> Bool {
        let log = LogReader(client: client)
        return try await cursor.position == 0 ? log.tail() == 0 : log.cursor(at: cursor.position) == cursor
    }

    /// Waits for the response without a limit of its own.
    @Sendable private func ask() async throws -> (status: UInt, answer: JSON) {
        let request = OutgoingRequest(
            .GET, "/index/check", host: settings.adminHost, port: settings.adminPort,
            headers: HTTPHeaders(settings.adminToken.map { [("authorization", "Bearer \($0)")] } ?? []),
            connectTimeout: Self.connectTimeout)
        let response = try await request.response(bodyLimitBytes: Self.answerLimitBytes)
        return (response.head.status.code, try JSON(utf8: Array(buffer: response.body)))
    }

    /// - Parameter answer: the body of the response of `/index/check`
    static func check(status: UInt, _ answer: JSON) -> DoctorLine {
        guard status != 401 else {
            return DoctorLine(
                name, .warn, "was not compared: the server requires another token",
                hint: "Set HUMON_ADMIN_TOKEN, or HUMON_ADMIN_TOKEN_FILE, to the server's token.")
        }
        guard status == 200, let events = answer["events"]?.storedInteger, let position = answer["position"]?.storedInteger,
            let differing = answer["differing"]?.storedInteger
        else { return notCompared(answer) }
        guard differing > 0 else {
            let result =
                "holds all \(Figure.grouped(events)) events as the read model has them at position \(Figure.grouped(position))"
            let percent = answer["memory_percent"]?.storedInteger ?? 0
            guard percent > comfortablePercent else { return DoctorLine(name, .ok, result) }
            return DoctorLine(
                name, .warn, "\(result), and takes \(percent) % of its memory limit",
                hint:
                    "Raise HUMON_INDEX_MEGABYTES, if the machine has more, and restart the server. At the limit new events get 503."
            )
        }
        let first: String = if case .array(let found) = answer["differences"] { found.first?.storedString ?? "" } else { "" }
        return DoctorLine(
            name, .bad,
            "differs from the read model in \(Figure.grouped(differing)) events at position \(Figure.grouped(position)): \(first)",
            hint: "Run humon projections verify events. If it finds no difference, restart the server, and report this.")
    }

    /// The largest part of HUMON_INDEX_MEGABYTES in use without a warning, as in `alerts.yml`.
    private static let comfortablePercent = 80

    private static func notCompared(_ answer: JSON) -> DoctorLine {
        switch answer["index"]?.storedString {
        case "loading":
            DoctorLine(
                name, .warn, "is loading: reads of events get 503",
                hint: "Check again in a moment. If it goes on, the server's log says why.")
        default:
            DoctorLine(
                name, .bad, "could not be compared: \(answer["message"]?.storedString ?? "the server does not say why")",
                hint: "See the server's log.")
        }
    }
}
