import Encoding

/// Compares a server's index with the read model.
struct IndexComparison: Sendable {
    private static let pause = Duration.milliseconds(100)

    let fleet: Fleet
    let node: Int
    /// A server needs a while to compare after its restart or that of PostgreSQL.
    var patienceSeconds = 60.0

    /// - Parameter tail: the position that the index must reach or pass; nil while the log grows
    func violations(at tail: Int64? = nil) async -> [Violation] {
        do {
            if let tail { try await awaitPosition(tail) }
            let answer = try await compared()
            guard let answer = try? JSON(utf8: answer.body.utf8), case .number("0") = answer["differing"] else {
                return [violation("differs from the read model: \(answer.body)")]
            }
            return []
        } catch {
            return [violation("cannot be compared: \(error)")]
        }
    }

    private func compared() async throws -> Fleet.Response {
        var last: Fleet.Response?
        try await wait(for: "a comparison by server \(node)", withinSeconds: patienceSeconds) {
            last = try? await fleet.ask("/index/check", of: node)
            if last?.status != 200 { try await Task.sleep(for: Self.pause) }
            return last?.status == 200
        }
        guard let last else { throw Violation(check: .index, sentence: "server \(node) did not answer") }
        return last
    }

    private func awaitPosition(_ tail: Int64) async throws {
        try await wait(for: "the index of server \(node) to reach position \(tail)", withinSeconds: patienceSeconds) {
            let metrics = try? await fleet.ask("/metrics", of: node).body
            let position = metrics?.firstMatch(of: /\nhumon_index_position (\d+)/).flatMap { Int64($0.1) }
            let isThere = position.map { $0 >= tail } ?? false
            if !isThere { try await Task.sleep(for: Self.pause) }
            return isThere
        }
    }

    private func violation(_ what: String) -> Violation {
        Violation(check: .index, sentence: "the index of server \(node) \(what)")
    }
}
