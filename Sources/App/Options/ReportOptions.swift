internal import ArgumentParser
internal import EventStore
internal import Logging
internal import Synchronization

/// A command that prints an operator report.
protocol ReportCommand: AsyncParsableCommand {
    static var report: OperatorReport { get }
    /// The texts of the arguments, by the names of the report's parameters. A flag has any text.
    var arguments: [String: String?] { get }
    var options: ReportOptions { get }
}

extension ReportCommand {
    /// The configuration of a command with the name and the sentence of the report. With the name of ArgumentParser's own property, the
    /// commands would silently have the default configuration.
    static func describing(_ discussion: String) -> CommandConfiguration {
        CommandConfiguration(
            commandName: report.name.split(separator: " ").last.map { String($0) }, abstract: report.summary,
            discussion: discussion)
    }

    /// - Throws: `ValidationError`
    func validate() throws { _ = try checked() }

    func run() async throws {
        try await options.database.print(Self.report, try checked(), options.output.output)
    }

    /// - Throws: `ValidationError`
    func checked() throws -> ReportArguments {
        try Self.report.arguments(arguments.compactMapValues { text in text.map { [$0] } })
    }
}

/// The options of a command that prints a report.
struct ReportOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
}

extension DatabaseOptions {
    /// Runs a report, and prints its rows to standard output, progress and advice to standard error. A report that follows the log
    /// listens on one of the two connections.
    /// - Throws: ``NegativeResult`` if the thing does not exist, the errors of ``reading(connections:_:)``, and those of the report
    func print(_ report: OperatorReport, _ arguments: ReportArguments, _ output: Output) async throws {
        let table: Table? = if case .table(let omitted) = report.form { Table(output, omitting: omitted) } else { nil }
        let bar = ProgressBar()
        let (end, isEmpty) = try await reading(connections: 2) { client in
            let isEmpty = Mutex(true)
            let end = try await report.run(
                arguments, on: client, logger: .humon(.warning), progress: { bar.show($0, of: $1) }
            ) { rows in
                // A closed pipe shows only in a write.
                guard !rows.isEmpty else { return try StandardOutput.checkReader() }
                bar.stop()
                isEmpty.withLock { $0 = false }
                if let table { try table.write(rows) } else { try output.write(details: rows) }
            }
            return (end, isEmpty.withLock(\.self))
        }
        switch end {
        case .complete(let sentence):
            if isEmpty, !sentence.isEmpty { try output.say(sentence) }
        case .more(let parameter, let argument, let because):
            output.note("\(because.map { "\($0) To go on" } ?? "There may be more"): --\(parameter) \(argument)")
        case .nothing(let sentence): throw NegativeResult(sentence)
        }
    }
}

extension OperatorReport {
    /// The report with this name. Ends the process if there is none, as the tests of the help would show.
    static func named(_ name: String) -> OperatorReport {
        guard let report = Backend.reports.first(where: { $0.name == name }) else { fatalError("there is no report \(name)") }
        return report
    }

    subscript(name: String) -> ReportParameter {
        guard let parameter = parameters.first(where: { $0.name == name }) else {
            fatalError("the report \(self.name) has no parameter \(name)")
        }
        return parameter
    }

    /// - Throws: `ValidationError` for an unusable text
    func arguments(_ texts: [String: [String]]) throws -> ReportArguments {
        do throws(ReportArgumentError) { return try ReportArguments(texts, for: parameters) } catch {
            throw ValidationError(harmless(error.description))
        }
    }
}

extension ReportParameter {
    fileprivate var argumentHelp: ArgumentHelp {
        ArgumentHelp("\(help)\(usual.map { " Default: \($0)." } ?? "")", valueName: label)
    }

    fileprivate var completion: CompletionKind? { if case .word(let words) = kind { .list(words) } else { nil } }
}

extension Option where Value == String? {
    init(_ parameter: ReportParameter, name: NameSpecification = .long) {
        self.init(name: name, help: parameter.argumentHelp, completion: parameter.completion)
    }
}

extension Argument where Value == String {
    init(_ parameter: ReportParameter) { self.init(help: parameter.argumentHelp, completion: parameter.completion) }
}

extension Flag where Value == Bool {
    init(_ parameter: ReportParameter, name: NameSpecification = .long) {
        self.init(wrappedValue: false, name: name, help: parameter.argumentHelp)
    }
}
