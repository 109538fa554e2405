internal import Encoding
internal import EventStore
internal import SpatialIndex
internal import Users

extension EventDetails {
    /// The longest stored name and the longest stored address, in bytes. Rules on new ones are shorter and may change; this one only
    /// bounds what the leaf of 64 events takes in memory.
    static let storedTextLimitBytes = 1_048_576

    /// Of values from the log or from a read model: the one place that checks them.
    /// - Throws: ``FormatError`` with the field, never its value
    init(
        storedName name: String, address: String?, lat: Double, lon: Double, startedAt: Timestamp, endedAt: Timestamp?
    ) throws(FormatError) {
        try Self.check(text: name, "name")
        if let address { try Self.check(text: address, "address") }
        // A range contains no NaN.
        guard EventFields.latitudes.contains(lat) else { throw FormatError("lat is not a number from -90 to 90") }
        guard EventFields.longitudes.contains(lon) else { throw FormatError("lon is not a number from -180 to 180") }
        try Self.check(time: startedAt, "started_at")
        if let endedAt { try Self.check(time: endedAt, "ended_at") }
        self.init(
            name: name, address: address, coordinates: Coordinates(lat: lat, lon: lon), startedAt: startedAt, endedAt: endedAt)
    }

    private static func check(text: String, _ field: String) throws(FormatError) {
        guard text.utf8.count <= storedTextLimitBytes else {
            throw FormatError("\(field) is longer than \(storedTextLimitBytes) bytes")
        }
        guard !text.utf8.contains(0) else { throw FormatError("\(field) contains U+0000") }
    }

    private static func check(time: Timestamp, _ field: String) throws(FormatError) {
        guard time >= .earliest, time <= .latest else { throw FormatError("\(field) is outside the years 0000 to 9999") }
    }
}

extension Event {
    /// Of a row of the read model, which is checked like the log: an earlier program may have written it, or a person.
    /// - Throws: ``FormatError`` with event, version and field
    init(
        row id: EventID, owner: Int64, version: Int32, name: String, address: String?, lat: Double, lon: Double,
        startedAt: Timestamp, endedAt: Timestamp?
    ) throws(FormatError) {
        do {
            guard id.rawValue > 0 else { throw FormatError("id is not a number from 1") }
            guard owner > 0 else { throw FormatError("owner_id is not a number from 1") }
            // The next version must be a number, too.
            guard (1..<Int32.max).contains(version) else {
                throw FormatError("version is not a number from 1 to \(Int32.max - 1)")
            }
            self.init(
                id: id, owner: UserID(rawValue: owner), version: version,
                details: try EventDetails(
                    storedName: name, address: address, lat: lat, lon: lon, startedAt: startedAt, endedAt: endedAt))
        } catch {
            throw FormatError(
                """
                version \(version) of \(id.stream) in the read model \(EventsProjection.schema): \(error). If the log has it right \
                (humon log verify), humon projections rebuild \(EventsProjection.name) mends it
                """)
        }
    }
}

extension UnitVector {
    /// Of a row of the read model.
    /// - Throws: ``FormatError``
    init(storedX x: Double, y: Double, z: Double) throws(FormatError) {
        // Rounding makes a coordinate of a unit vector 1 at most; another processor's last bit may differ.
        let range = -1.000_001...1.000_001
        guard range.contains(x), range.contains(y), range.contains(z) else {
            throw FormatError("x, y or z of the read model \(EventsProjection.schema) is not a number from -1 to 1")
        }
        self.init(x: x, y: y, z: z)
    }
}
