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
        /// The account has no row any more. A rebuild reads erased members before it reads `AccountErased`.
        var isErased = false
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
        /// Accounts that have no row and no token any more.
        var erased: [AccountID] = []
    }

    static let tables =
        """
        CREATE TABLE accounts (
            id bigint PRIMARY KEY,
            version integer NOT NULL,
            name text,
            email text COLLATE "C" NOT NULL,
            password text NOT NULL
        );
        CREATE TABLE account_tokens (
            -- The digest.
            token text COLLATE "C" PRIMARY KEY,
            account_id bigint NOT NULL,
            issued integer NOT NULL
        );
        """

    static let indexes =
        """
        ALTER TABLE accounts ADD CONSTRAINT accounts_email UNIQUE (email);
        CREATE INDEX account_tokens_of_account ON account_tokens (account_id, issued);
        """

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
            case .created(.present(let person)):
                (row.name, row.email, row.password) = (person.name, person.email, person.password)
                issue(person.token)
            case .passwordChanged(.present(let password)): row.password = password
            case .signedIn(.present(let tokens)):
                if let replaced = tokens.replaced { revoke(replaced) }
                issue(tokens.token)
            case .signedOut(.present(let token)): revoke(token)
            case .created(.erased), .passwordChanged(.erased), .signedIn(.erased), .signedOut(.erased), .erased:
                row.isErased = true
            }
            rows[id] = row
        }
        let ordered = rows.values.sorted { $0.id.rawValue < $1.id.rawValue }
        let present = ordered.filter { !$0.isErased }
        return Changes(
            created: present.filter { $0.email != nil }, changed: present.filter { $0.email == nil },
            issued: issued.values.filter { rows[$0.account]?.isErased == false }
                .sorted { ($0.account.rawValue, $0.issued) < ($1.account.rawValue, $1.issued) },
            revoked: revoked.sorted { $0.text < $1.text }, erased: ordered.filter(\.isErased).map(\.id))
    }

    func writes(for changes: Changes, in schema: String) -> [Write] {
        var writes: [Write] = .inserting(changes.created, Self.layout, in: schema)
        writes += .inserting(changes.issued, Self.tokens, in: schema)
        writes += .updating(changes.changed.filter { $0.password != nil }, Self.hashes, in: schema)
        writes += .updating(changes.changed.filter { $0.password == nil }, Self.versions, in: schema)
        if !changes.revoked.isEmpty {
            writes.append(
                .run("DELETE FROM \(identifier: schema).account_tokens WHERE token = ANY(\(changes.revoked.map(\.text)))"))
        }
        if !changes.erased.isEmpty {
            let erased = changes.erased.map(\.rawValue)
            writes.append(.run("DELETE FROM \(identifier: schema).account_tokens WHERE account_id = ANY(\(erased))"))
            writes.append(.run("DELETE FROM \(identifier: schema).accounts WHERE id = ANY(\(erased))"))
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
