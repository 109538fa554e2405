public import Encoding
internal import EventStore
internal import Postgres
public import SpatialIndex
internal import Users

/// A request for the events in a box, in the order of their ids: the view of a map.
public struct BoxRequest: Sendable, Hashable {
    /// The largest number of events in one page, and the default.
    public static let maximumLimit = 1_000

    public var box: DegreeBox
    public var window = TimeWindow()
    public var limit = maximumLimit
    /// The response has the events behind this one only. It need not exist.
    public var after: EventID?

    /// West, south, east and north of the box, in degrees.
    public var bbox: [Double] { [box.west, box.south, box.east, box.north] }
}

extension BoxRequest {
    /// - Parameter json: the fields `bbox`, `from`, `to`, `limit` and `after`
    /// - Throws: ``EventRejection/invalid(errors:)`` with all validation errors
    public init(_ json: JSON) throws(EventRejection) {
        var fields = EventFields(json)
        let box = fields.required("bbox", fields.box())
        let window = fields.window()
        let limit = fields.limit(maximum: Self.maximumLimit)
        let after = fields.after { EventID(stream: StreamName(category: EventID.category, key: $0)) }
        guard fields.errors.isEmpty, let box else { throw .invalid(errors: fields.errors) }
        self.init(box: box, window: window, limit: limit, after: after)
    }

    /// Reads one row more than the limit. The extra row shows that there is another page.
    var query: SQL {
        """
        SELECT \(EventRow.columns)
        FROM \(identifier: EventsProjection.schema).events
        WHERE \(box.condition)\(window.condition) AND id > \(after?.rawValue ?? .min)
        ORDER BY id LIMIT \(Int64(limit) + 1)
        """
    }

    func page(_ rows: Rows) throws -> NearestRequest.Page {
        let found = try rows.map { try Event($0) }
        let kept = Array(found.prefix(limit))
        let next = found.count > limit ? kept.last : nil
        return NearestRequest.Page(events: kept, next: next.map { NearestRequest.Cursor(squaredChord: 0, id: $0.id) })
    }
}

extension DegreeBox {
    /// The live events in the box, as a WHERE clause. The bands let PostgreSQL use the index of bands and longitudes.
    var condition: SQL {
        let (first, last) = (BandRange.band(lat: south), BandRange.band(lat: north))
        let longitudes: SQL =
            west <= east ? "lon BETWEEN \(west) AND \(east)" : "(lon >= \(west) OR lon <= \(east))"
        return """
            band BETWEEN \(first) AND \(last) AND lat BETWEEN \(south) AND \(north) AND \(longitudes) \
            AND \(EventRow.isLive)
            """
    }
}
