public import Encoding
internal import EventStore
public import SpatialIndex

/// A request for the events in a box, in the order of their ids: the view of a map.
public struct BoxRequest: Sendable, Hashable {
    /// The largest number of events in one page, and the default.
    public static let maximumLimit = 1_000

    public var box: DegreeBox
    public var filter = EventFilter()
    public var limit = maximumLimit
    /// The response has the events behind this one only. It need not exist.
    public var after: EventID?

    /// West, south, east and north of the box, in degrees.
    public var bbox: [Double] { [box.west, box.south, box.east, box.north] }
}

extension BoxRequest {
    /// - Parameter json: the fields `bbox`, `from`, `to`, `q`, `category`, `limit` and `after`
    /// - Throws: ``EventRejection/invalid(errors:)`` with all validation errors
    public init(_ json: JSON) throws(EventRejection) {
        var fields = EventFields(json)
        let box = fields.required("bbox", fields.box())
        let filter = fields.filter()
        let limit = fields.limit(maximum: Self.maximumLimit)
        let after = fields.after { EventID(stream: StreamName(category: EventID.category, key: $0)) }
        guard fields.errors.isEmpty, let box else { throw .invalid(errors: fields.errors) }
        self.init(box: box, filter: filter, limit: limit, after: after)
    }
}
