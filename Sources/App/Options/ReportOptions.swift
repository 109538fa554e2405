internal import ArgumentParser
internal import EventStore
internal import Logging

/// A command that prints an operator report.
protocol ReportCommand: AsyncParsableCommand, TableCommand {
    static var report: OperatorReport { get }
    /// The texts of the arguments, by the names of the report's parameters.
    var arguments: [String: [String?]] { get }
    var options: ReportOptions<Self> { get }
}

extension ReportCommand {
    static var columns: [ReportColumn] { report.columns }

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
        try await options.database.print(Self.report, try checked(), options.output.output(options.table))
    }

    /// - Throws: `ValidationError`
    func checked() throws -> ReportArguments {
        try Self.report.arguments(arguments.mapValues { $0.compactMap(\.self) })
    }
}

/// The options of a command that prints a report.
struct ReportOptions<Command: TableCommand>: ParsableArguments {
    @OptionGroup var table: TableOptions<Command>
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
}

extension DatabaseOptions {
    /// Runs a report and prints it. A report that follows the log listens on one of the two connections.
    /// - Throws: ``NegativeResult`` if the thing does not exist, the errors of ``reading(connections:_:)``, and those of the report
    func print(_ report: OperatorReport, _ arguments: ReportArguments, _ output: Output) async throws {
        let printer = ReportPrinter(report, output)
        let end = try await reading(connections: 2) { client in
            try await report.run(
                arguments, on: client, logger: .humon(.warning), progress: { printer.progress($0, of: $1) },
                show: { try printer.show($0) })
        }
        try printer.finish(end)
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

extension Option where Value == [String] {
    init(_ parameter: ReportParameter) {
        self.init(
            wrappedValue: [], name: .customLong(parameter.name), help: parameter.argumentHelp, completion: parameter.completion)
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
