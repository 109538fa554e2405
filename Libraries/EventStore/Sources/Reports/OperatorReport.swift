public import Logging
public import Postgres

/// A view for operators: a query of the database with parameters and typed columns. The terminal and JSON render it, and so can a page.
///
/// ```swift
/// for report in modules.operatorReports where report.name == "streams list" {
///     let arguments = try ReportArguments(["category": ["book"]], for: report.parameters)
///     _ = try await report.run(arguments, on: database, logger: logger) { rows in show(rows, report.columns) }
/// }
/// ```
public struct OperatorReport: Sendable {
    public enum Form: Sendable, Hashable {
        case table
        /// Few rows with much in each: a renderer shows each row field by field.
        case details
    }

    public let name: String
    /// A sentence that says what the report shows.
    public let summary: String
    public let parameters: [ReportParameter]
    public let columns: [ReportColumn]
    public let form: Form
    private let read: @Sendable (Query<[ReportValue]>) async throws -> ReportEnd

    /// One run of a report.
    struct Query<Row>: Sendable {
        let client: PostgresClient
        let arguments: ReportArguments
        let logger: Logger
        /// Takes the amount that is done and the whole amount, for a long run.
        let progress: @Sendable (Int64, Int64) -> Void
        /// Takes the rows as they come. A report that has waited for a while shows no rows.
        let show: @Sendable ([Row]) throws -> Void
    }

    init<Row>(
        _ name: String, _ summary: String, _ parameters: [ReportParameter] = [], _ columns: [RowColumn<Row>],
        form: Form = .table, read: @escaping @Sendable (Query<Row>) async throws -> ReportEnd
    ) {
        (self.name, self.summary, self.parameters, self.form) = (name, summary, parameters, form)
        self.columns = columns.map(\.column)
        self.read = { query in
            try await read(
                Query<Row>(client: query.client, arguments: query.arguments, logger: query.logger, progress: query.progress) {
                    rows in
                    try query.show(rows.map { row in columns.map { $0.value(row) } })
                })
        }
    }

    /// - Parameters:
    ///   - client: may have only the rights of the reading role; a report that follows the log needs two connections
    ///   - progress: takes the amount that is done and the whole amount, for a long run
    ///   - show: takes the rows as they come, each with a value for each column; a report that has waited for a while shows no rows
    /// - Throws: the errors of `show`, `PostgresError`, ``LogGapError``, ``FormatError``, or `CancellationError`
    public func run(
        _ arguments: ReportArguments, on client: PostgresClient, logger: Logger,
        progress: @escaping @Sendable (_ done: Int64, _ total: Int64) -> Void = { _, _ in },
        show: @escaping @Sendable ([[ReportValue]]) throws -> Void
    ) async throws -> ReportEnd {
        try await read(Query(client: client, arguments: arguments, logger: logger, progress: progress, show: show))
    }
}

/// How a report ended.
public enum ReportEnd: Sendable, Hashable {
    /// The sentence stands for the rows if there are none.
    case complete(ifEmpty: String = "")
    /// The same report with this argument goes on.
    /// - because: why the report stopped early; `nil` if the page is full
    case more(parameter: String, argument: String, because: String? = nil)
    /// The thing that the operator asked for does not exist, and the sentence says so.
    case nothing(String)
}

extension [Module] {
    /// Every report on a database of these modules.
    public var operatorReports: [OperatorReport] {
        [
            .streams(of: self), .stream(of: self), .streamState(of: self), .streamChanges(of: self), .tail(of: self),
            .recordedEvent(of: self), .search(of: self), .trace(of: self), .statistics, .readModels(of: self),
            .rebuilds(of: self), .subscriptions, .parkedStreams,
        ] + flatMap(\.operatorReports)
    }
}
