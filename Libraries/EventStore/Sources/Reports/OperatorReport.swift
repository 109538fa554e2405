public import Encoding
public import Logging
public import Postgres

/// A view for operators: a query of the database with parameters. Its rows are JSON objects, which the terminal or a page renders.
///
/// All rows of a report have the same members. The last word of a member's name is its unit: `at` (a time), `seconds`, `bytes`,
/// and `second` or `day` (a rate). A word that says whether the thing is well has a name that ends in `state`.
///
/// ```swift
/// for report in modules.operatorReports where report.name == "streams list" {
///     let arguments = try ReportArguments(["category": ["book"]], for: report.parameters)
///     _ = try await report.run(arguments, on: database, logger: logger, show: show)
/// }
/// ```
public struct OperatorReport: Sendable {
    public enum Form: Sendable, Hashable {
        /// A table without some members, which only programs read: an id of 36 characters would push the others aside.
        case table(omitting: Set<String> = [])
        /// Few rows with much in each: a renderer shows each row member by member.
        case details
    }

    public let name: String
    /// A sentence that says what the report shows.
    public let summary: String
    public let parameters: [ReportParameter]
    public let form: Form
    private let read: @Sendable (Query) async throws -> ReportEnd

    /// One run of a report.
    struct Query: Sendable {
        let client: PostgresClient
        let arguments: ReportArguments
        let logger: Logger
        /// Takes the amount that is done and the whole amount, for a long run.
        let progress: @Sendable (Int64, Int64) -> Void
        /// Takes the rows as they come. A report that has waited for a while shows no rows.
        let show: @Sendable ([JSONObject]) throws -> Void
    }

    init(
        _ name: String, _ summary: String, _ parameters: [ReportParameter] = [], form: Form = .table(),
        read: @escaping @Sendable (Query) async throws -> ReportEnd
    ) {
        (self.name, self.summary, self.parameters, self.form, self.read) = (name, summary, parameters, form, read)
    }

    /// - Parameters:
    ///   - client: may have only the rights of the reading role; a report that follows the log needs two connections
    ///   - progress: takes the amount that is done and the whole amount, for a long run
    ///   - show: takes the rows as they come; a report that has waited for a while shows no rows
    /// - Throws: the errors of `show`, `PostgresError`, ``LogGapError``, ``FormatError``, or `CancellationError`
    public func run(
        _ arguments: ReportArguments, on client: PostgresClient, logger: Logger,
        progress: @escaping @Sendable (_ done: Int64, _ total: Int64) -> Void = { _, _ in },
        show: @escaping @Sendable ([JSONObject]) throws -> Void
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

/// Values of a row; null if there is none.
extension JSON {
    package static func integer(_ value: Int64?) -> JSON { value.map { JSON($0) } ?? .null }

    package static func time(_ value: Timestamp?) -> JSON { JSON(value?.description) }

    /// A figure that is not finite is null, because JSON has no such number.
    package static func figure(_ value: Double?) -> JSON { value.flatMap { $0.isFinite ? JSON($0) : nil } ?? .null }
}

extension [ModuleRegistration] {
    /// Every report on a database of these modules.
    public var operatorReports: [OperatorReport] {
        [
            .streams(of: self), .stream(of: self), .streamState(of: self), .streamChanges(of: self), .tail(of: self),
            .recordedEvent(of: self), .search(of: self), .trace(of: self), .statistics, .readModels(of: self),
            .subscriptions, .parkedStreams,
        ] + flatMap(\.operatorReports)
    }
}
