internal import Foundation

/// The last responses that have an `ETag`, so that an unchanged list costs no second transfer.
///
/// `@unchecked`: the lock protects the variables.
final class ResponseCache: @unchecked Sendable {
    /// Maximum numbers of responses and of their bytes.
    private static let (limit, limitBytes) = (64, 4 << 20)

    private struct Entry {
        var response: Response
        var lastUse: Int
    }

    private let lock = NSLock()
    private var entries: [String: Entry] = [:]
    private var bytes = 0
    private var uses = 0

    subscript(address: String) -> Response? {
        lock.withLock {
            uses += 1
            entries[address]?.lastUse = uses
            return entries[address]?.response
        }
    }

    func keep(_ response: Response, of address: String) {
        lock.withLock {
            remove(address)
            guard response.body.count <= Self.limitBytes / 4 else { return }
            uses += 1
            entries[address] = Entry(response: response, lastUse: uses)
            bytes += response.body.count
            while entries.count > Self.limit || bytes > Self.limitBytes {
                guard let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
                remove(oldest.key)
            }
        }
    }

    /// For another user.
    func clear() {
        lock.withLock {
            entries = [:]
            bytes = 0
        }
    }

    private func remove(_ address: String) {
        if let removed = entries.removeValue(forKey: address) { bytes -= removed.response.body.count }
    }
}
