internal import Encoding
internal import Foundation
internal import Telemetry

/// Prints the result of a command: aligned lines for people, or one JSON object per line for programs. Progress and advice are no
/// result; they go to standard error.
struct Output: Sendable {
    enum Format: Sendable, Hashable {
        case json, text
    }

    let format: Format
    /// Takes whole lines.
    let write: @Sendable (String) throws -> Void

    /// Prints all rows as a table, or for people the message if there are none.
    /// - Throws: ``OutputClosed``, ``CommandFailure``
    func write(_ rows: [JSONObject], whenEmpty message: String? = nil) throws {
        if rows.isEmpty, let message { return try say(message) }
        try Table(self).write(rows)
    }

    /// Prints one thing, member by member.
    /// - Throws: ``OutputClosed``, ``CommandFailure``
    func write(_ record: JSONObject) throws { try write(details: [record]) }

    /// Prints rows member by member, with an empty line between two rows for people.
    /// - Throws: ``OutputClosed``, ``CommandFailure``
    func write(details rows: [JSONObject]) throws {
        guard format == .text else { return try write(lines(of: rows)) }
        try write(rows.map(details).joined(separator: "\n"))
    }

    /// Prints a sentence for people. Programs find the same in the objects.
    /// - Throws: ``OutputClosed``, ``CommandFailure``
    func say(_ sentence: String) throws {
        if format != .json { try write(harmless(sentence) + "\n") }
    }

    /// Prints advice, such as the option for the next page, to standard error.
    func note(_ sentence: String) { LogSink.standardError.write(harmless(sentence) + "\n") }

    /// Prints the present step of a long task for a person at the terminal.
    func step(_ sentence: String) {
        if isatty(STDERR_FILENO) == 1 { note(sentence) }
    }

    /// The rows for programs.
    func lines(of rows: [JSONObject]) -> String { rows.map { harmless(JSON.object($0).text) + "\n" }.joined() }

    /// The members of an object are printed on lines of their own, as `data.name`.
    private func details(of row: JSONObject) -> String {
        let members = row.members.flatMap { member -> [(name: String, text: String)] in
            guard case .object(let object) = member.value, !object.members.isEmpty else {
                return [(member.name, member.value.readable(as: member.name))]
            }
            return object.members.map { ("\(member.name).\($0.name)", $0.value.readable()) }
        }
        let names = members.map { harmless($0.name.replacing("_", with: " ")) }
        let width = names.map(\.count).max() ?? 0
        return zip(names, members).map { name, member in
            let padding = String(repeating: " ", count: member.text.isEmpty ? 0 : width - name.count + 2)
            return name + padding + member.text + "\n"
        }.joined()
    }
}

/// Values of a row; null if there is none.
extension JSON {
    static func integer(_ value: Int64?) -> JSON { value.map { JSON($0) } ?? .null }

    static func time(_ value: Timestamp?) -> JSON { JSON(value?.description) }

    /// A figure that is not finite is null, because JSON has no such number.
    static func figure(_ value: Double?) -> JSON { value.flatMap { $0.isFinite ? JSON($0) : nil } ?? .null }
}
