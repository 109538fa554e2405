internal import Encoding
internal import EventStore
internal import Postgres
internal import Transparency

/// Appends recorded events to the tree and signs a checkpoint: the second subscription beside the erasures.
struct TreeSubscription: Subscription {
    let name = "tree"
    let key: SigningKey
    /// The time between two checkpoints while the tree keeps up with the log.
    var pace = Duration.seconds(5)
    let now: @Sendable () -> Timestamp

    /// Waits until the newest event is as old as the pace. Older pages are not delayed, so that the tree catches up.
    func perform(_ events: [RecordedEvent]) async throws {
        guard let newest = events.last?.envelope.recordedAt else { return }
        let age = Duration.milliseconds(now().milliseconds - newest.milliseconds)
        // The clock of another node may be ahead.
        try await Task.sleep(for: min(pace - age, pace))
    }

    func handle(_ events: [RecordedEvent], in transaction: LeasedConnection) async throws {
        guard let end = events.last?.position else { return }
        let tree = LogTree(client: transaction)
        do {
            // Not the events are appended, but what the tree lacks.
            var growth = try await tree.growth(signedBy: key.verifierKey)
            while growth.size < end {
                let tiles = try await tree.extend(&growth, to: end)
                let checkpoint = Checkpoint(origin: key.verifierKey.name, size: growth.size, root: growth.root)
                let note = String(decoding: checkpoint.signed(by: key).bytes, as: UTF8.self)
                let (levels, indexes) = (tiles.map { Int16($0.tile.level ?? 0) }, tiles.map(\.tile.index))
                let hashes = tiles.map { Bytea(bytes: $0.hashes.joined()) }
                try await transaction.query("SELECT log.keep_tree(\(levels), \(indexes), \(hashes), \(growth.size), \(note))")
            }
        } catch  where !(error is CancellationError) && (!error.mayPass || error.isTimeout) {
            // No event is at fault, and no stream may be parked for it.
            throw BrokenTree(reason: (error as? BrokenTree)?.reason ?? "\(error)")
        }
    }
}

extension Error {
    fileprivate var isTimeout: Bool { (self as? PostgresError)?.sqlState == .queryCanceled }
}
