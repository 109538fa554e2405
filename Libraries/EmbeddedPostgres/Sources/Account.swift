internal import Foundation

/// The account that PostgreSQL runs as: root's PostgreSQL runs as `postgres`, everyone else's as themselves.
struct Account: Sendable {
    var name: String
    /// nil: the account of this process.
    var identity: (user: uid_t, group: gid_t)?

    var user: uid_t { identity?.user ?? getuid() }

    static func toRunPostgres() throws(EmbeddedPostgresError) -> Account {
        guard getuid() == 0 else { return Account(name: NSUserName(), identity: nil) }
        guard let identity = SystemCalls.account(named: "postgres") else { throw .noPostgresAccount }
        return Account(name: "postgres", identity: identity)
    }
}
