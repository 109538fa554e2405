public import Postgres

/// A sequence that numbers the streams of a category.
public struct IDSequence: Sendable, Hashable {
    public var category: String
    /// The name with its schema, such as `log.user_ids`.
    public var name: String

    public init(category: String, name: String) {
        self.category = category
        self.name = name
    }

    /// A sequence and the lowest value that it must have.
    public struct State: Sendable, Hashable {
        public var sequence: IDSequence
        /// The number that the sequence handed out last; 0 if it handed out none.
        public var last: Int64
        /// The largest number of the compared streams; 0 if there is none.
        public var largestUsed: Int64

        public var isBehind: Bool { last < largestUsed }
    }

    /// Compares the sequences with the streams after a position; 0 means all streams.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public static func states(
        of sequences: [IDSequence], after position: Int64 = 0, client: PostgresClient
    ) async throws -> [State] {
        try await client.withLongTransaction { connection in try await states(of: sequences, after: position, connection) }
    }

    static func states(
        of sequences: [IDSequence], after position: Int64 = 0, _ connection: LeasedConnection
    ) async throws -> [State] {
        var states: [State] = []
        for sequence in sequences {
            let (last, used) = try await connection.query(
                """
                SELECT coalesce(pg_sequence_last_value(\(sequence.name)::text::regclass), 0), coalesce((
                    SELECT max(substring(stream FROM '^[^-]+-([0-9]{1,18})$')::bigint) FROM log.recorded_events
                    WHERE position > \(position) AND version = 1 AND split_part(stream, '-', 1) = \(sequence.category)
                ), 0)
                """
            ).decode((Int64, Int64).self)[0]
            states.append(State(sequence: sequence, last: last, largestUsed: used))
        }
        return states
    }

    /// Advances the sequences, so that they hand out no number that is in use.
    static func advance(_ sequences: [IDSequence], _ connection: LeasedConnection) async throws {
        for state in try await states(of: sequences, connection) where state.isBehind {
            try await connection.query("SELECT setval(\(state.sequence.name)::text::regclass, \(state.largestUsed))")
        }
    }
}
