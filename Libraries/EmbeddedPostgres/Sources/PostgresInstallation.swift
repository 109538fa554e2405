internal import Foundation
internal import Subprocess
public import SystemPackage

/// PostgreSQL's programs on this machine.
public struct PostgresInstallation: Sendable, Hashable {
    /// The oldest version that will do.
    public static let oldestMajorVersion = 15

    public var directory: FilePath
    public var majorVersion: Int

    /// Finds the newest installed PostgreSQL, or the installation of a version.
    /// - Parameters:
    ///   - directory: the bin directory; nil: the usual directories of Debian and others, then `PATH`
    ///   - wanted: the major version of the cluster; nil for a new cluster
    /// - Throws: ``EmbeddedPostgresError/noPrograms(wanted:lookedIn:)``
    public static func find(in directory: String?, majorVersion wanted: Int?) async throws -> PostgresInstallation {
        let candidates = directory.map { [$0] } ?? (installed + path)
        var found: [PostgresInstallation] = []
        for candidate in candidates {
            guard let version = await version(in: candidate) else { continue }
            found.append(PostgresInstallation(directory: FilePath(candidate), majorVersion: version))
        }
        let usable = found.filter { wanted == nil ? $0.majorVersion >= oldestMajorVersion : $0.majorVersion == wanted }
        guard let newest = usable.max(by: { $0.majorVersion < $1.majorVersion }) else {
            throw EmbeddedPostgresError.noPrograms(wanted: wanted, lookedIn: candidates)
        }
        return newest
    }

    /// `/usr/lib/postgresql/15/bin` on Debian, `/usr/pgsql-15/bin` on others.
    private static var installed: [String] {
        let debian = "/usr/lib/postgresql"
        let others = (try? FileManager.default.contentsOfDirectory(atPath: "/usr")) ?? []
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []
        return versions.map { "\(debian)/\($0)/bin" } + others.filter { $0.hasPrefix("pgsql-") }.map { "/usr/\($0)/bin" }
    }

    private static var path: [String] {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    }

    /// From `postgres --version`: `postgres (PostgreSQL) 15.18 (Debian …)`.
    private static func version(in directory: String) async -> Int? {
        // PostgreSQL's programs start each other by a shell, in double quotes.
        guard !directory.contains(where: { "\"$`\\\n".contains($0) }),
            FileManager.default.isExecutableFile(atPath: "\(directory)/postgres"),
            FileManager.default.isExecutableFile(atPath: "\(directory)/pg_ctl")
        else { return nil }
        let result = try? await Subprocess.run(
            .path(FilePath("\(directory)/postgres")), arguments: ["--version"], output: .string(limit: 1_024, encoding: UTF8.self)
        )
        return result?.standardOutput.split(separator: " ").lazy.compactMap { Int($0.prefix { $0.isNumber }) }.first
    }
}
