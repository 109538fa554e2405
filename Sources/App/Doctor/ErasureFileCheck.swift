internal import EventStore
internal import Postgres

/// Compares the erasure list with the erasures of the log, and changes nothing.
struct ErasureFileCheck: Sendable {
    static let name = "erasures file"

    /// `nil` if there is none.
    let path: String?
    let client: PostgresClient

    func look() async -> DoctorLine {
        guard let path else {
            return DoctorLine(
                Self.name, .warn, "HUMON_ERASURES is not set: a restored backup shows erased persons again",
                hint: "Set HUMON_ERASURES to a file on a local disk, for each node its own.")
        }
        return await DoctorLine.looking(at: Self.name) { [client] in
            do {
                return Self.check(try await ErasureFile(path: path).compared(with: client, StoredModule.all))
            } catch let error as ErasureFile.Failure {
                return DoctorLine(Self.name, .bad, "\(error)", hint: "No server starts with it. Mend the file of HUMON_ERASURES.")
            }
        }
    }

    private static func check(_ file: ErasureFile.Comparison) -> DoctorLine {
        guard file.lines == 0 || file.linesOfLog > 0 else {
            return DoctorLine(
                name, .warn, "lines: \(Figure.grouped(Int64(file.lines))), and none of this log",
                hint: "Check that HUMON_ERASURES names the file of this database.")
        }
        var (result, hints) = ("lines of this log: \(Figure.grouped(Int64(file.linesOfLog)))", [String]())
        if file.missingLines > 0 {
            result += "; erasures without a line: \(Figure.grouped(Int64(file.missingLines)))"
            hints.append("The server of this node adds lines within seconds; its log says why it cannot.")
        }
        if file.unreadableLines > 0 {
            result += "; lines that cannot be read: \(Figure.grouped(Int64(file.unreadableLines)))"
            hints.append("An append that was cut leaves such a line. More of them mean that something else writes to the file.")
        }
        return hints.isEmpty
            ? DoctorLine(name, .ok, result) : DoctorLine(name, .warn, result, hint: hints.joined(separator: " "))
    }
}
