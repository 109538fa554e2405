public import Foundation
internal import Postgres

/// What must hold for the log while an append is recorded. So the append relies on what its caller knows, without a query before it.
public enum AppendCondition: Sendable, Hashable {
    /// The stream ends with the recorded event of this id.
    case ends(StreamName, with: UUID)
    /// The log has no recorded event with this actor behind this position.
    case noEvents(by: Int64, after: Int64)

    public init(stream: StreamName, lastID: UUID) { self = .ends(stream, with: lastID) }
}

extension Set<AppendCondition> {
    /// Selects the conditions that do not hold.
    var check: SQL {
        let (streams, ids, actors, positions) = parameters
        return "SELECT stream, id, actor, position FROM log.failing_conditions(\(streams), \(ids), \(actors), \(positions))"
    }

    /// As the functions of the log take them.
    var parameters: (streams: [String], ids: [UUID], actors: [Int64], positions: [Int64]) {
        var (streams, ids, actors, positions): ([String], [UUID], [Int64], [Int64]) = ([], [], [], [])
        for condition in self {
            switch condition {
            case .ends(let stream, let id):
                streams.append(stream.description)
                ids.append(id)
            case .noEvents(let actor, let position):
                actors.append(actor)
                positions.append(position)
            }
        }
        return (streams, ids, actors, positions)
    }
}

extension AppendCondition {
    /// - Parameter rows: the rows of ``Swift/Set/check``
    static func failing(in rows: Rows) throws -> Set<AppendCondition> {
        Set(
            try rows.decode((String?, UUID?, Int64?, Int64?).self).compactMap { stream, id, actor, position in
                if let stream, let id { return .ends(StreamName(stream), with: id) }
                return actor.flatMap { actor in position.map { .noEvents(by: actor, after: $0) } }
            })
    }
}
