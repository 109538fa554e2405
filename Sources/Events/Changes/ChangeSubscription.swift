internal import EventStore

/// The receiver of a stream of changes, such as the connection of a client: gets lines, and `nil` at the end. It must not wait.
public typealias ChangeSink = @Sendable (_ lines: [UInt8]?) -> Void

/// One open stream of changes.
final class ChangeSubscription: Sendable {
    /// Returns an event as lists show it now; `nil` if they do not show it.
    typealias Lookup = @Sendable (EventID) -> HeldEvent?

    let number: Int
    let area: EventArea
    let filter: ChangeFilter
    /// The client has everything up to this cursor; `nil` if its cursor is not one of this log.
    let after: LogCursor?
    let sink: ChangeSink
    let present: Lookup

    init(_ number: Int, _ search: ChangeSearch, after: LogCursor?, sink: @escaping ChangeSink, present: @escaping Lookup) {
        self.number = number
        area = search.area
        filter = ChangeFilter(search)
        self.after = after
        self.sink = sink
        self.present = present
    }
}
