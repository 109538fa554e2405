internal import EventStore
internal import Postgres

/// Checks the erasure list, and changes nothing there.
struct ErasureFileCheck: Sendable {
    static let name = "erasures file"

    /// `nil` if there is none.
    let path: String?
    let client: PostgresClient

    func look() async -> Check {
        guard let path else {
            return Check(
                Self.name, .warn, "HUMON_ERASURES is not set: a restored backup shows erased persons again",
                hint: "Set HUMON_ERASURES to a file outside of the database, on storage that all nodes share.")
        }
        return await Check.looking(at: Self.name) { [client] in
            let log = try await LogReader(client: client).read(position: 1)?.envelope.id
            do { return Self.check(try await ErasureFile(path: path).summary(of: log)) } catch ErasureFile.Failure.missing
                where log == nil
            {
                return Check(Self.name, .ok, "will be made by the first start of a server")
            } catch let error as ErasureFile.Failure {
                return Check(Self.name, .bad, "\(error)", hint: "No server starts without it. Mend the file of HUMON_ERASURES.")
            }
        }
    }

    static func check(_ file: ErasureFile.Summary) -> Check {
        guard file.isWritable else {
            return Check(
                name, .bad, "this account may not write it: no erasure ends",
                hint: "Run the doctor as the account of the servers, and give it the right to write the file of HUMON_ERASURES.")
        }
        let lines = "lines of this log: \(Figure.grouped(Int64(file.linesOfLog)))"
        guard file.unreadableLines == 0 else {
            return Check(
                name, .warn, "\(lines); lines that cannot be read: \(Figure.grouped(Int64(file.unreadableLines)))",
                hint:
                    "An append that was cut leaves such a line and is repeated. More of them mean that something else writes to the file."
            )
        }
        guard file.lines == 0 || file.linesOfLog > 0 else {
            return Check(
                name, .warn, "lines: \(Figure.grouped(Int64(file.lines))), and none of this log",
                hint: "Check that HUMON_ERASURES names the file of this database.")
        }
        return Check(name, .ok, lines)
    }
}
