internal import EventStore
internal import Postgres

/// Those who keep up with the log: read models and followers.
struct ReadModelChecks: Sendable {
    let client: PostgresClient

    static var names: [String] { Backend.projections.map { name(of: type(of: $0).schema) } }

    private static func name(of schema: String) -> String { "read model \(schema)" }

    private struct Found: Sendable {
        var version: Int32
        var position: Int64
        var exists: Bool
        var tail: Int64
    }

    func readModels() async -> [Check] {
        var checks: [Check] = []
        for projection in Backend.projections {
            let (schema, version) = (type(of: projection).schema, type(of: projection).version)
            checks.append(
                await Check.looking(at: Self.name(of: schema)) { Self.check(schema, version: version, try await found(schema)) })
        }
        return checks
    }

    private func found(_ schema: String) async throws -> Found? {
        try await client.query(
            "SELECT version, position, to_regnamespace(schema) IS NOT NULL, log.tail() FROM log.checkpoints WHERE schema = \(schema)"
        ).decode((Int32, Int64, Bool, Int64).self).first.map { Found(version: $0, position: $1, exists: $2, tail: $3) }
    }

    private static func check(_ schema: String, version: Int32, _ found: Found?) -> Check {
        let rebuild = "Run humon projections rebuild."
        guard let found, found.exists else {
            return Check(name(of: schema), .bad, "is missing", remedy: "\(rebuild) humon serve builds it, too, when it starts.")
        }
        guard found.version == version else {
            return Check(
                name(of: schema), .bad, "has version \(found.version), this program needs \(version)", remedy: rebuild)
        }
        guard found.position == found.tail else {
            return Check(
                name(of: schema), .bad,
                "is at position \(found.position), the log at \(found.tail): nothing can be appended", remedy: rebuild)
        }
        return Check(name(of: schema), .ok, "version \(version), in step with the log")
    }

    func followers() async throws -> Check {
        let followers = try await Followers(client: client).statuses()
        guard !followers.isEmpty else { return Check("followers", .ok, "nobody follows the log") }
        let parked = followers.filter { $0.parkedStreams > 0 }
        guard parked.isEmpty else {
            return Check(
                "followers", .bad,
                parked.map { "\(Field.grouped($0.parkedStreams)) parked by \($0.name)" }.joined(separator: "; "),
                remedy: parked.map {
                    "See humon followers parked \($0.name); mend the cause, then humon followers retry \($0.name)."
                }
                .joined(separator: " "))
        }
        let abandoned = followers.filter { $0.leasedUntil == nil && $0.lag > 0 }
        guard abandoned.isEmpty else {
            return Check(
                "followers", .warn,
                abandoned.map { "\($0.name) is \(Field.grouped($0.lag)) positions behind and nobody leads it" }.joined(
                    separator: "; "),
                remedy: "See that a server runs that runs it.")
        }
        return Check(
            "followers", .ok, followers.map { "\($0.name) is \(Field.grouped($0.lag)) positions behind" }.joined(separator: ", "))
    }
}
