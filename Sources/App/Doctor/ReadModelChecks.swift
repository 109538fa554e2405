internal import EventStore
internal import HTTP
internal import Postgres

/// Checks the read models and the subscriptions.
struct ReadModelChecks: Sendable {
    let client: PostgresClient

    static var names: [String] { Backend.projections.map { name(of: type(of: $0).name) } }

    private static func name(of readModel: String) -> String { "read model \(readModel)" }

    func readModels() async -> [DoctorLine] {
        let found: [ReadModelStatus]
        let models = Backend.readModels(client)
        do { found = try await Deadline.run(within: DoctorLine.seconds, models.list) } catch {
            var checks: [DoctorLine] = []
            for name in Self.names { checks.append(await DoctorLine.looking(at: name) { throw error }) }
            return checks
        }
        return Backend.projections.map { projection in
            let model = found.first { $0.schema == type(of: projection).schema }
            return Self.check(model?.state ?? .missing, model, as: Self.name(of: type(of: projection).name))
        }
    }

    private static func check(_ state: ReadModelStatus.State, _ model: ReadModelStatus?, as name: String) -> DoctorLine {
        let (version, lag) = (model?.version ?? 0, Figure.grouped(model?.lag ?? 0))
        return switch state {
        case .ready: DoctorLine(name, .ok, "version \(version), in step with the log")
        case .behind:
            DoctorLine(
                name, .warn, "version \(version), \(lag) recorded events behind the log",
                hint: "A server of this version updates it; check that one runs.")
        case .ahead:
            DoctorLine(
                name, .bad, "at position \(model?.position ?? 0), but the log ends before it",
                hint: "Restore the log, or, if it is as it should be, run humon projections rebuild --all.")
        case .missing, .replaced, .building, .interrupted, .otherVersion:
            DoctorLine(
                name, .bad, "is missing",
                hint: "Run humon projections rebuild --all. humon serve builds it, too, when it starts.")
        }
    }

    /// - Throws: `PostgresError`
    func subscriptions() async throws -> DoctorLine {
        let subscriptions = try await Subscriptions(client: client).statuses()
        guard !subscriptions.isEmpty else { return DoctorLine("subscriptions", .ok, "the log has no subscription") }
        let parked = subscriptions.filter { $0.parkedStreams > 0 }
        guard parked.isEmpty else {
            return DoctorLine(
                "subscriptions", .bad,
                parked.map { "\(Figure.grouped($0.parkedStreams)) parked by \($0.name)" }.joined(separator: "; "),
                hint: parked.map {
                    "See humon subscriptions parked \($0.name); mend the cause, then humon subscriptions retry \($0.name)."
                }
                .joined(separator: " "))
        }
        var (states, hint): ([String], String?) = ([], nil)
        for subscription in subscriptions {
            // Most of the events behind the position may be of no interest to the subscription.
            let filter =
                subscription.name == ErasureSubscription.subscription
                ? ErasureSubscription.filter(of: StoredModule.all) : .everything
            let page = try await LogReader(client: client).page(
                after: subscription.position, limit: DoctorReport.newestPositions, filter: filter)
            let waits = !page.events.isEmpty || page.endOfLogAt == nil
            var lag = "is \(Figure.grouped(subscription.lag)) positions behind"
            if waits, let interruption = subscription.interruption {
                lag += ", interrupted: \(interruption)"
                hint = "Remove the cause; a server tries again by itself."
            } else if waits, subscription.leader == nil {
                lag += " and has no leader"
                hint = hint ?? "Check that a server with this subscription runs."
            }
            states.append("\(subscription.name) \(waits ? lag : "has handled every event")")
        }
        return DoctorLine("subscriptions", hint == nil ? .ok : .warn, states.joined(separator: ", "), hint: hint)
    }
}
