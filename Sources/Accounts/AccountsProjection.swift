internal import EventStore
internal import Postgres

/// The read model of accounts: their addresses, their password hashes and the digests of their tokens.
struct AccountsProjection: Projection {
    static let name = "accounts"
    static let version: Int32 = 1
    static let personalColumns: Set<String> = ["name", "email", "password", "token"]

    /// An account, or its changed columns: a row without an address changes an existing one.
    struct Row: Sendable, Hashable {
        var id: AccountID
        var version: Int32
        var name: String?
        var email: EmailAddress?
        /// `nil` leaves the hash as it is.
        var password: PasswordHash?
    }

    struct TokenRow: Sendable, Hashable {
        var token: TokenDigest
        var account: AccountID
        /// The version of the recorded event that issued the token.
        var issued: Int32
    }

    struct Changes: Sendable, Hashable {
        var created: [Row] = []
        /// Rows with another version, and some with another password.
        var changed: [Row] = []
        var issued: [TokenRow] = []
        /// Tokens that earlier batches issued.
        var revoked: [TokenDigest] = []
    }

    static func tables(in schema: String) -> String {
        """
        CREATE TABLE \(schema).accounts (
            id bigint PRIMARY KEY,
            version integer NOT NULL,
            name text,
            email text COLLATE "C" NOT NULL,
            password text NOT NULL
        );
        CREATE TABLE \(schema).account_tokens (
            -- The digest.
            token text COLLATE "C" PRIMARY KEY,
            account_id bigint NOT NULL,
            issued integer NOT NULL
        );
        """
    }

    static func indexes(in schema: String) -> String {
        """
        ALTER TABLE \(schema).accounts ADD CONSTRAINT accounts_email UNIQUE (email);
        CREATE INDEX account_tokens_of_account ON \(schema).account_tokens (account_id, issued);
        """
    }

    func fold(_ envelopes: [EventEnvelope<AccountDomainEvent>]) -> Changes {
        var rows: [AccountID: Row] = [:]
        var issued: [TokenDigest: TokenRow] = [:]
        var revoked: Set<TokenDigest> = []
        func revoke(_ token: TokenDigest) { if issued.removeValue(forKey: token) == nil { revoked.insert(token) } }
        for envelope in envelopes {
            guard let id = AccountID(stream: envelope.stream) else { continue }
            func issue(_ token: TokenDigest) {
                issued[token] = TokenRow(token: token, account: id, issued: envelope.version)
            }
            var row = rows[id] ?? Row(id: id, version: envelope.version)
            row.version = envelope.version
            switch envelope.event {
            case .created(let created):
                (row.name, row.email, row.password) = (created.name, created.email, created.password)
                issue(created.token)
            case .passwordChanged(let changed): row.password = changed.password
            case .signedIn(let signedIn):
                if let replaced = signedIn.replaced { revoke(replaced) }
                issue(signedIn.token)
            case .signedOut(let signedOut): revoke(signedOut.revoked)
            }
            rows[id] = row
        }
        let ordered = rows.values.sorted { $0.id.rawValue < $1.id.rawValue }
        return Changes(
            created: ordered.filter { $0.email != nil }, changed: ordered.filter { $0.email == nil },
            issued: issued.values.sorted { ($0.account.rawValue, $0.issued) < ($1.account.rawValue, $1.issued) },
            revoked: revoked.sorted { $0.text < $1.text })
    }

    func writes(for changes: Changes, in schema: String) -> [Write] {
        let hashes = changes.changed.filter { $0.password != nil }
        let versions = changes.changed.filter { $0.password == nil }
        var writes: [Write] = []
        if !changes.created.isEmpty { writes.append(.insert(Self.layout.insertion(of: changes.created, in: schema))) }
        if !changes.issued.isEmpty { writes.append(.insert(Self.tokens.insertion(of: changes.issued, in: schema))) }
        if !hashes.isEmpty { writes.append(.run(Self.hashes.update(hashes, by: "id", in: schema))) }
        if !versions.isEmpty { writes.append(.run(Self.versions.update(versions, by: "id", in: schema))) }
        if !changes.revoked.isEmpty {
            writes.append(
                .run("DELETE FROM \(identifier: schema).account_tokens WHERE token = ANY(\(changes.revoked.map(\.text)))"))
        }
        return writes
    }

    private static let layout = RowLayout<Row>(
        table: "accounts",
        [
            .init("id") { $0.id.rawValue }, .init("version") { $0.version }, .init("name") { $0.name },
            .init("email") { $0.email?.text }, .init("password") { $0.password?.stored },
        ])
    private static let hashes = layout.without("name").without("email")
    private static let versions = hashes.without("password")
    private static let tokens = RowLayout<TokenRow>(
        table: "account_tokens",
        [.init("token") { $0.token.text }, .init("account_id") { $0.account.rawValue }, .init("issued") { $0.issued }])
}
