public import Encoding
public import EventStore
internal import SpatialIndex

/// What a stream of changes follows: the events of an area that a filter keeps, from a cursor of the log on.
public struct ChangeSearch: Sendable, Hashable {
    public var area: EventArea
    public var filter = EventFilter()
    /// The stream has the changes after this cursor; `nil` for those from now on.
    public var since: LogCursor?
}

extension ChangeSearch {
    /// - Throws: ``EventRejection/invalid(errors:)`` with all validation errors
    public init(_ json: JSON) throws(EventRejection) {
        var fields = EventFields(json)
        let area = fields.area()
        let filter = fields.filter()
        let since = fields.cursor("since")
        guard fields.errors.isEmpty, let area else { throw .invalid(errors: fields.errors) }
        self.init(area: area, filter: filter, since: since)
    }
}
