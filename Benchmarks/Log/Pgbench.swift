internal import Foundation
internal import Subprocess

/// pgbench, with prepared statements, as a process of its own.
struct Pgbench: Sendable {
    /// Logging each latency would slow pgbench down.
    private static let sampledShare = 0.2

    let cluster: Cluster
    let database: Database
    let seconds: Int

    /// - Parameter rowsPerTransaction: the rows of one transaction of the script
    func run(_ name: String, script: String, clients: Int, rowsPerTransaction: Int = 1) async throws -> Measurement {
        progress("pgbench \(name), \(clients) clients")
        try await database.checkpoint()
        let place = URL(fileURLWithPath: cluster.directory).appending(path: "pgbench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let scriptFile = place.appending(path: "script.sql").path
        try script.write(toFile: scriptFile, atomically: false, encoding: .utf8)
        let output: String
        do {
            output = try await PostgresProgram.run(
                "pgbench",
                "--no-vacuum", "--protocol=prepared", "--client=\(clients)", "--jobs=\(min(clients, 2))", "--time=\(seconds)",
                "--file=\(scriptFile)", "--log", "--log-prefix=\(place.path)/latencies",
                "--sampling-rate=\(Self.sampledShare)", database.url
            )
        } catch let failure as PostgresProgram.Failure where failure.output.contains("actually processed: 0\n") {
            // On a busy machine some clients may finish no transaction in a short time. That is a valid result.
            return Measurement(clients: clients, perSecond: 0)
        }
        guard let rate = output.firstMatch(of: /tps = ([0-9.]+)/).flatMap({ Double($0.1) }) else {
            throw PostgresProgram.Failure(program: "pgbench", output: output)
        }
        return Measurement(
            clients: clients,
            perSecond: rate * Double(rowsPerTransaction),
            latencies: try latencies(in: place),
            perTransaction: Double(rowsPerTransaction)
        )
    }

    /// Latencies in milliseconds; the third word of each line has them in microseconds.
    private func latencies(in place: URL) throws -> [Double] {
        try FileManager.default.contentsOfDirectory(at: place, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix("latencies") }
            .flatMap { try String(contentsOf: $0, encoding: .utf8).split(separator: "\n") }
            .compactMap { line in
                let words = line.split(separator: " ", maxSplits: 3)
                return words.count > 2 ? Double(words[2]).map { $0 / 1_000 } : nil
            }
    }
}

/// The programs of PostgreSQL.
enum PostgresProgram {
    struct Failure: Error, CustomStringConvertible {
        var program: String
        var output: String
        var description: String { "\(program) failed: \(output)" }
    }

    private static let outputLimitBytes = 1_024 * 1_024

    /// The standard output of the program.
    @discardableResult
    static func run(_ program: String, _ arguments: String...) async throws -> String {
        let result = try await Subprocess.run(
            .name(program),
            arguments: Arguments(arguments),
            output: .string(limit: outputLimitBytes, encoding: UTF8.self),
            error: .string(limit: outputLimitBytes, encoding: UTF8.self)
        )
        let output = [result.standardOutput, result.standardError].compactMap { $0 }.joined(separator: "\n")
        guard result.terminationStatus.isSuccess else { throw Failure(program: program, output: output) }
        return output
    }
}
