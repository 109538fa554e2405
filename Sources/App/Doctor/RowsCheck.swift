/// Checks what the server on HUMON_ADMIN_PORT has found in its comparison of rows with the log.
struct RowsCheck: Sendable {
    static let name = "rows"

    let settings: Settings

    func look() async -> Check {
        guard settings.adminPort != 0 else { return Check(Self.name, .ok, "not checked: HUMON_ADMIN_PORT is 0") }
        let address = OperatorsAddress(settings: settings)
        do {
            let (status, body) = try await Deadline.run { try await address.get("/metrics") }
            return Self.check(status: status, metrics: String(decoding: body, as: UTF8.self))
        } catch is Deadline.Exceeded {
            return Check(
                Self.name, .warn, "the server on \(address.description) did not show its metrics in time",
                hint: "See the server's log.")
        } catch {
            return Check(Self.name, .ok, "no server answers on \(address.description), so none compares rows with the log")
        }
    }

    /// - Parameter metrics: the body of the response of `/metrics`
    static func check(status: UInt, metrics: String) -> Check {
        guard status != 401 else {
            return Check(
                name, .warn, "not checked: the server requires another token",
                hint: "Set HUMON_ADMIN_TOKEN, or HUMON_ADMIN_TOKEN_FILE, to the server's token.")
        }
        let compared = values(of: "humon_read_model_rows_compared_total", in: metrics)
        guard status == 200, !compared.isEmpty else {
            return Check(name, .ok, "not checked: this server compares no rows with the log")
        }
        let differing = values(of: "humon_read_model_rows_differing", in: metrics).filter { $0.value > 0 }
        guard !differing.isEmpty else { return Check(name, .ok, "the server compares them with the log: none differs") }
        return Check(
            name, .bad,
            differing.map { "\(Figure.grouped($0.value)) of \($0.readModel) differ from the log" }.joined(separator: "; "),
            hint: "Run humon projections verify --all to see them, and humon projections rebuild --all to correct them.")
    }

    private static func values(of metric: String, in metrics: String) -> [(readModel: String, value: Int64)] {
        metrics.split(separator: "\n").compactMap { line in
            guard line.hasPrefix(metric + "{"), let match = line.wholeMatch(of: /[^{]*\{read_model="([^"]+)"\} (\d+).*/),
                let value = Int64(match.2)
            else { return nil }
            return (String(match.1), value)
        }
    }
}
