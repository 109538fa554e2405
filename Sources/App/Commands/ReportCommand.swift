internal import ArgumentParser
internal import Encoding
internal import EventStore
internal import Foundation
internal import Logging
internal import Postgres
internal import Synchronization

/// A command that shows rows of the database, and changes nothing. It prints them as they come: as a table or member by member for people,
/// as JSON for programs.
///
/// All rows of a command have the same members. The last word of a member's name is its unit: `at` (a time), `seconds`, `bytes`,
/// and `second` or `day` (a rate). A word that says whether the thing is well has a name that ends in `state`.
protocol ReportCommand: AsyncParsableCommand, Sendable {
    /// `false` for few rows with much in each, which are printed member by member.
    static var isTable: Bool { get }
    var options: CommandOptions { get }

    /// - Throws: the errors of ``ReportQuery/show``, `PostgresError`, `LogGapError`, `FormatError`, or `CancellationError`
    func read(_ query: ReportQuery) async throws -> ReportEnd
}

/// One run of a report.
struct ReportQuery: Sendable {
    let client: PostgresClient
    let logger: Logger
    /// Takes the amount that is done and the whole amount, for a long run.
    let progress: @Sendable (Int64, Int64) -> Void
    /// Takes the rows as they come. A report that has waited for a while shows no rows.
    let show: @Sendable ([JSONObject]) throws -> Void
}

/// How a report ended.
enum ReportEnd: Sendable {
    /// The sentence stands for the rows if there are none.
    case complete(ifEmpty: String = "")
    /// The same command goes on before this position.
    /// - because: why the report stopped early; `nil` if the page is full
    case more(before: LogCursor, because: String? = nil)
    /// A sentence for an operator who asked for something that does not exist.
    case nothing(String)
}

extension ReportCommand {
    static var isTable: Bool { true }

    /// Prints rows to standard output, progress and advice to standard error. A report that follows the log listens on one of the two
    /// connections.
    /// - Throws: ``NegativeResult`` if the thing does not exist, the errors of ``DatabaseOptions/reading(connections:_:)`` and ``read(_:)``
    func run() async throws {
        let output = options.output
        // Only programs read these members: an id of 36 characters would push the others aside.
        let table = Self.isTable ? Table(output, omitting: ["format", "id", "trace_id"]) : nil
        let progress = ProgressLines()
        let (end, isEmpty) = try await options.database.reading(connections: 2) { client in
            let isEmpty = Mutex(true)
            let query = ReportQuery(client: client, logger: .humon(.warning), progress: { progress.show($0, of: $1) }) { rows in
                // A closed pipe shows only in a write.
                guard !rows.isEmpty else { return try StandardOutput.checkReader() }
                isEmpty.withLock { $0 = false }
                if let table { try table.write(rows) } else { try output.write(details: rows) }
            }
            return (try await read(query), isEmpty.withLock(\.self))
        }
        switch end {
        case .complete(let sentence):
            if isEmpty, !sentence.isEmpty { try output.say(sentence) }
        case .more(let position, let because):
            output.note("\(because.map { "\($0) To go on" } ?? "There may be more"): --before \(position)")
        case .nothing(let sentence): throw NegativeResult(sentence)
        }
    }
}

/// The option of a command that may show personal data.
struct RevealOption: ParsableArguments {
    @Flag(help: "Show personal data: names, texts, places, e-mail addresses, and digests of passwords and tokens.")
    var reveal = false

    var redaction: Redaction { Redaction(of: Backend.domainEvents, isRevealed: reveal) }
}

extension Redaction {
    /// A recorded event as reports show it.
    func row(of recorded: RecordedEvent) -> JSONObject {
        let (envelope, event) = (recorded.envelope, recorded.envelope.event)
        // Metadata that cannot be read are null: a verification of the log reports them.
        let metadata = try? envelope.metadata.values()
        return [
            "position": .integer(recorded.position), "recorded_at": .time(envelope.recordedAt),
            "stream": .string(envelope.stream.description), "version": JSON(envelope.version), "type": .string(event.type),
            "format": JSON(event.format), "id": .string(envelope.id.uuidString.lowercased()),
            "actor": .integer(metadata?.actor), "request_id": JSON(metadata?.requestID), "trace_id": JSON(metadata?.traceID),
            "data": shown(event, category: envelope.stream.category),
        ]
    }
}

/// The options that select domain events. A misspelt name would find no events, and look like a result.
struct KindOptions: ParsableArguments {
    private static let types = Backend.domainEvents.flatMap { $0.storedTypes.map(\.name) }
    private static let categories = Backend.domainEvents.map { $0.category }

    @Option(
        help: "Only domain events of this type, such as EventCreated.", completion: .list(types),
        transform: Parameter.word("type", types))
    var type: String?

    @Option(
        help: "Only streams of this category, such as event.", completion: .list(categories),
        transform: Parameter.word("category", categories))
    var category: String?
}

/// Reads the texts of options and arguments. A text that cannot be used is a `ValidationError` that says what can.
enum Parameter {
    static let timeHelp = "RFC 3339, a date (2026-11-21, in UTC), or an age (90s, 30m, 2h, 7d)."

    static func word(_ name: String, _ words: [String]) -> @Sendable (String) throws -> String {
        { text in
            guard words.contains(text) else {
                throw ValidationError("There is no \(name) \(harmless(text)). Known: \(words.joined(separator: ", ")).")
            }
            return text
        }
    }

    static func number(_ range: ClosedRange<Int64>) -> @Sendable (String) throws -> Int64 {
        { text in
            guard let number = Int64(text), range.contains(number) else {
                let end = range.upperBound == .max ? "" : " to \(range.upperBound)"
                throw ValidationError("It must be a whole number from \(range.lowerBound)\(end).")
            }
            return number
        }
    }

    /// The number of rows of one page.
    static let limit = number(1...10_000)
    static let fromOne = number(1...(.max))
    /// A position of the log as a page names it, or without its mark.
    static func cursor(_ text: String) throws -> LogCursor {
        guard let cursor = LogCursor(text), cursor.position > 0 else {
            throw ValidationError("It must be a position from 1, as the page before names it.")
        }
        return cursor
    }

    static let version = number(1...Int64(Int32.max))

    static func text(_ text: String) throws -> String {
        guard !text.isEmpty else { throw ValidationError("It must not be empty.") }
        return text
    }

    /// A moment, a date in UTC, or an age.
    static func time(_ text: String) throws -> Timestamp {
        guard let time = time(text, now: Dependencies.system.now()) else {
            throw ValidationError(
                "\(harmless(text)) is no time: write 2026-11-21T16:43:00Z, 2026-11-21, or 2h for two hours ago.")
        }
        return time
    }

    static func time(_ text: String, now: Timestamp) -> Timestamp? {
        if let time = Timestamp(rfc3339: text) ?? Timestamp(rfc3339: "\(text)T00:00:00Z") { return time }
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        // At most ten digits, so that the product cannot overflow.
        guard let unit = text.last.flatMap({ units[$0] }), (2...11).contains(text.count),
            text.utf8.dropLast().allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int64(text.dropLast())
        else { return nil }
        return max(.earliest, Timestamp(milliseconds: now.milliseconds - number * unit * 1_000))
    }
}
