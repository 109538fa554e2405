internal import EventStore
internal import Synchronization

/// Remembers the users of tokens that this process has looked up lately.
///
/// A remembered user may be out of date: the token may have been replaced or revoked since. So it serves commands only whose append
/// requires the token.
final class RecentUsers: Sendable {
    /// Maximum number of remembered tokens, which take about 15 MB. A full memory begins anew.
    static let limit = 100_000

    private enum Entry {
        case user(Caller<UserID>)
        /// The user's stream ends with another recorded event than the token's, although the user has the token.
        case unsuitable
    }

    private let limit: Int
    private let entries = Mutex<[DeviceDigest: Entry]>([:])

    init(limit: Int = limit) { self.limit = limit }

    subscript(device: DeviceDigest) -> Caller<UserID>? {
        entries.withLock { entries in
            if case .user(let user)? = entries[device] { user } else { nil }
        }
    }

    /// Remembers what a lookup found. The condition holds while the token is the user's: a replacement or a revocation appends to the
    /// user's stream.
    /// - Returns: false if the condition of the token failed before, although the user has the token
    func found(_ user: Caller<UserID>, of device: DeviceDigest) -> Bool {
        entries.withLock { entries in
            if case .unsuitable? = entries[device] { return false }
            if entries.count >= limit { entries.removeAll(keepingCapacity: true) }
            entries[device] = .user(user)
            return true
        }
    }

    /// Remembers that the condition of a token failed.
    func failed(_ device: DeviceDigest) { entries.withLock { $0[device] = .unsuitable } }

    func forget(_ device: DeviceDigest) { entries.withLock { $0[device] = nil } }
}
