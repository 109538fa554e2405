internal import EventStore

extension EventsModule {
    /// The position from which a stream of changes begins now; `nil` if this node has no index in use, and so no streams.
    public var changesPosition: Int64? {
        guard let index, index.state.isInUse else { return nil }
        return changes?.position
    }

    /// Waits up to a second for a position that this node has not reached.
    /// - Returns: whether the log has the position; if not, it belongs to another history of the log
    /// - Throws: `PostgresError`, or `CancellationError`
    public func logReaches(_ position: Int64) async throws -> Bool {
        if let index, await index.reaches(position) { return true }
        return try await LogReader(client: database).tail() >= position
    }

    /// Opens a stream of changes: the sink gets the changes after a position, and then each later change, once and in order. It
    /// gets a reset and the end if this node cannot promise that.
    /// - Parameter position: `nil` if the client's position is not one of this log
    /// - Returns: the number of the stream, for ``closeChanges(_:)``
    public func openChanges(_ search: ChangeSearch, after position: Int64?, sink: any ChangeSink) -> Int {
        changes?.join(search, after: position, sink: sink) ?? 0
    }

    /// Closes a stream. Its sink gets no further lines.
    public func closeChanges(_ number: Int) { changes?.leave(number) }

    package var changeStatus: ChangeFeedStatus { changes?.status ?? ChangeFeedStatus() }
}
