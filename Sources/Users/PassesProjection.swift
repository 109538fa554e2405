internal import Encoding
internal import EventStore
internal import Postgres

/// The read model of passes: each user's pass of each kind, unless it was ended or used up.
struct PassesProjection: Projection {
    static let name = "passes"
    static let version: Int32 = 1
    static let personalColumns: Set<String> = ["digest"]

    struct Key: Sendable, Hashable {
        var user: UserID
        var kind: PassKind
    }

    static let tables =
        """
        CREATE TABLE passes (
            user_id bigint NOT NULL,
            kind text COLLATE "C" NOT NULL,
            digest bytea NOT NULL,
            issued_at timestamptz NOT NULL,
            -- NULL for a pass that never expires.
            expires_at timestamptz,
            PRIMARY KEY (user_id, kind)
        );
        """

    /// Not unique: two codes of ten letters may be equal, which must stop no rebuild.
    static let indexes = "CREATE INDEX passes_digest ON passes (digest);"

    /// The passes that the batch changes, as it leaves them; `nil` for one that has no row any more.
    func fold(_ envelopes: [EventEnvelope<PassDomainEvent>]) -> [Key: Pass?] {
        var passes: [Key: Pass?] = [:]
        for envelope in envelopes {
            guard let user = UserID(passes: envelope.stream) else { continue }
            func set(_ kind: PassKind, _ pass: Pass?) { passes.updateValue(pass, forKey: Key(user: user, kind: kind)) }
            switch envelope.event {
            case .issued(let kind, .present(let digest), let expiresAt):
                set(kind, Pass(user: user, kind: kind, digest: digest, issuedAt: envelope.recordedAt, expiresAt: expiresAt))
            case .used(let kind, _): if kind.terms.returns == 1 { set(kind, nil) }
            // A rebuild reads erased members before it reads `PassErased`.
            case .ended(let kind), .issued(let kind, .erased, _): set(kind, nil)
            case .erased: for kind in PassKind.allCases { set(kind, nil) }
            }
        }
        return passes
    }

    /// Deletes before it inserts: a new pass may replace one of an earlier batch.
    func writes(for passes: [Key: Pass?], in schema: String) -> [Write] {
        guard !passes.isEmpty else { return [] }
        let (keys, present) = (Array(passes.keys), passes.values.compactMap { $0 })
        let deletion: SQL = """
            DELETE FROM \(identifier: schema).passes AS p
            USING (SELECT unnest(\(keys.map(\.user.rawValue))), unnest(\(keys.map(\.kind.rawValue)))) AS n (user_id, kind)
            WHERE p.user_id = n.user_id AND p.kind = n.kind
            """
        return [.run(deletion)] + (present.isEmpty ? [] : [.run(Self.layout.insertion(of: present, in: schema).statement)])
    }

    /// The columns of a row, in the order in which ``Pass/init(_:)`` reads them.
    static let layout = RowLayout<Pass>(
        table: "passes",
        [
            .init("user_id") { $0.user.rawValue }, .init("kind") { $0.kind.rawValue }, .init("digest") { $0.digest.bytea },
            .init("issued_at") { $0.issuedAt }, .init("expires_at") { $0.expiresAt },
        ])
}

extension Pass {
    /// - Throws: `FormatError`, `PostgresError`
    init(_ row: Row) throws {
        let (user, name, digest, issuedAt, expiresAt) = try row.decode((Int64, String, Bytea, Timestamp, Timestamp?).self)
        guard let kind = PassKind(rawValue: name) else { throw FormatError("a pass of user \(user) has no known kind") }
        self.init(
            user: UserID(rawValue: user), kind: kind, digest: DeviceDigest(bytes: digest.bytes), issuedAt: issuedAt,
            expiresAt: expiresAt)
    }
}
