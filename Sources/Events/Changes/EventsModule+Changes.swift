internal import EventStore
internal import SpatialIndex

extension EventsModule {
    /// The position from which a stream of changes begins now; `nil` if this node has no index in use, and so no streams.
    public var changesPosition: Int64? {
        guard let index, index.state.isInUse else { return nil }
        return changes?.position
    }

    /// Whether this node has room for one more stream that waits for its first lines.
    public var hasRoomForChanges: Bool { changes?.hasRoom ?? false }

    /// Whether the log has a position; if not, it belongs to another history of the log. This node may not have reached it.
    /// - Throws: `PostgresError`, or `CancellationError`
    public func logReaches(_ position: Int64) async throws -> Bool {
        try await LogReader(client: database).tail() >= position
    }

    /// Opens a stream of changes: the sink gets the changes after a position, and then each later change, once and in order. It
    /// gets a reset and the end if this node cannot promise that.
    /// - Parameter position: `nil` if the client's position is not one of this log
    /// - Returns: the number of the stream, for ``closeChanges(_:)`` and ``endChanges(_:)``
    public func openChanges(_ search: ChangeSearch, after position: Int64?, sink: @escaping ChangeSink) -> Int {
        guard let changes, let index = index?.content.index else { return 0 }
        return changes.join(search, after: position, sink: sink) { index.snapshot.event($0).map(HeldEvent.init) }
    }

    /// Closes a stream. Its sink gets no further lines.
    public func closeChanges(_ number: Int) { changes?.leave(number) }

    /// Ends a stream after the changes so far and a last position, from which its client continues at another node.
    public func endChanges(_ number: Int) { changes?.end(number) }

    package var changeStatus: ChangeFeedStatus { changes?.status ?? ChangeFeedStatus() }
}
