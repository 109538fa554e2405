public import EventStore
internal import SpatialIndex

extension EventsModule {
    /// The cursor from which a stream of changes begins now; `nil` if this node has no index in use, and so no streams.
    public var changesCursor: LogCursor? {
        guard let index, index.state.isInUse else { return nil }
        return changes?.end
    }

    /// Whether this node has room for one more stream that waits for its first lines.
    public var hasRoomForChanges: Bool { changes?.hasRoom ?? false }

    /// What ends a stream of changes together with its token; `nil` without an index.
    public var tokenEndings: TokenEndings? { index?.endings }

    /// Opens a stream of changes: the sink gets the changes after a cursor, and then each later change, once and in order. It
    /// gets a reset and the end if this node cannot promise that.
    /// - Parameter cursor: `nil` if the client's is not one of this log
    /// - Returns: the number of the stream, for ``closeChanges(_:)`` and ``endChanges(_:)``
    public func openChanges(_ search: ChangeSearch, after cursor: LogCursor?, sink: @escaping ChangeSink) -> Int {
        guard let changes, let index = index?.content.index else { return 0 }
        return changes.join(search, after: cursor, sink: sink) { index.snapshot.event($0).map(HeldEvent.init) }
    }

    /// Closes a stream. Its sink gets no further lines.
    public func closeChanges(_ number: Int) { changes?.leave(number) }

    /// Ends a stream after the changes so far and a last position, from which its client continues at another node.
    public func endChanges(_ number: Int) { changes?.end(number) }

    package var changeStatus: ChangeFeedStatus { changes?.status ?? ChangeFeedStatus() }
}
