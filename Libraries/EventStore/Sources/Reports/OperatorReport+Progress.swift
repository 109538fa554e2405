internal import Postgres

/// The reports on what follows the log: read models and subscriptions.
extension OperatorReport {
    private static func models(_ query: Query<some Any>, of modules: [Module]) -> ReadModels {
        ReadModels(projections: modules.projections, client: query.client, logger: query.logger)
    }

    static func readModels(of modules: [Module]) -> OperatorReport {
        OperatorReport(
            "projections list", "List the read models with their state, lag and size.", [],
            [
                .text("name") { $0.name }, .number("version", .side) { Int64($0.version) }, .text("schema", .side) { $0.schema },
                .state("state") { ($0.state.health, $0.state.rawValue) }, .number("position") { $0.position },
                .count("lag") { $0.lag }, .seconds("lag_seconds") { $0.lagSeconds }, .count("rows") { $0.rows },
                .bytes("bytes") { $0.bytes }, .time("built_at", .side) { $0.builtAt }, .time("served_at", .side) { $0.servedAt },
            ] as [RowColumn<ReadModelStatus>]
        ) { query in
            try query.show(try await models(query, of: modules).list())
            return .complete()
        }
    }

    static func rebuilds(of modules: [Module]) -> OperatorReport {
        OperatorReport(
            "projections rebuilds", "List the rebuilds that run or were interrupted.",
            [.init("name", .word(modules.projections.map { type(of: $0).name }), "Only rebuilds of this read model.")],
            [
                .text("schema") { $0.schema },
                .state("state") { $0.isUnderWay ? (.good, "under way") : (.doubtful, "interrupted") },
                .number("position") { $0.position }, .number("tail") { $0.tail }, .time("began_at") { $0.beganAt },
                .rate("events_a_second") { $0.isUnderWay ? $0.rate : nil }, .seconds("seconds_left") { $0.secondsLeft },
            ] as [RowColumn<ShadowStatus>]
        ) { query in
            let shadows = try await models(query, of: modules).named(query.arguments.texts("name")).shadows()
            try query.show(shadows)
            return shadows.isEmpty ? .nothing("No rebuild is running or interrupted.") : .complete()
        }
    }

    static let subscriptions = OperatorReport(
        "subscriptions list", "List the subscriptions with their position, lag, lease and parked streams.", [],
        [
            .text("subscription") { $0.name }, .number("position") { $0.position }, .count("lag") { $0.lag },
            .time("leased_until", .side) { $0.leasedUntil }, .count("parked_streams") { $0.parkedStreams },
        ] as [RowColumn<SubscriptionStatus>]
    ) { query in
        try query.show(try await Subscriptions(client: query.client).statuses())
        return .complete(ifEmpty: "This log has no subscription yet.")
    }

    static let parkedStreams = OperatorReport(
        "subscriptions parked", "List the parked streams of a subscription, with the reason of each.",
        [.init("name", .text, "The subscription's name.")],
        [
            .text("stream") { $0.stream.description }, .number("version") { Int64($0.version) },
            .number("position") { $0.position }, .time("since", .side) { $0.parkedAt },
            .flag("to_be_retried") { $0.isToBeRetried },
            .text("reason") { $0.reason },
        ] as [RowColumn<ParkedStream>]
    ) { query in
        let (subscriptions, name) = (Subscriptions(client: query.client), query.arguments.text("name") ?? "")
        if let absence = try await subscriptions.absence(of: name) { return .nothing(absence) }
        try query.show(try await subscriptions.parkedStreams(of: name))
        return .complete(ifEmpty: "No stream of \(name) is parked.")
    }
}

extension ReadModelStatus.State {
    fileprivate var health: ReportValue.Health {
        switch self {
        case .ready, .kept, .building: .good
        case .behind, .interrupted, .otherVersion: .doubtful
        case .missing, .ahead: .bad
        }
    }
}

extension Subscriptions {
    /// A sentence about a subscription that never ran; `nil` if it ran.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public func absence(of name: String) async throws -> String? {
        guard try await position(of: name) == nil else { return nil }
        let names = try await statuses().map(\.name)
        return "The subscription \(name) never ran; "
            + (names.isEmpty
                ? "this log has no subscription yet." : "the subscriptions are: \(names.joined(separator: ", ")).")
    }
}
