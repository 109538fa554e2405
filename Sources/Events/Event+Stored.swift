internal import Encoding
internal import EventStore
internal import SpatialIndex
internal import Users

extension EventDetails {
    /// The longest stored name and the longest stored address, in bytes. The rules for new events are stricter and may change. This
    /// limit bounds the memory of a leaf with 64 events.
    static let storedTextLimitBytes = 1_048_576

    /// Checks values from the log or from a read model. No other code checks them.
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
        // The bytes themselves: through the string's iterator it took 3 % of the processor time of a load.
        let hasZero = text.utf8.withContiguousStorageIfAvailable { $0.contains(0) } ?? text.utf8.contains(0)
        guard !hasZero else { throw FormatError("\(field) contains U+0000") }
    }

    private static func check(time: Timestamp, _ field: String) throws(FormatError) {
        guard time >= .earliest, time <= .latest else { throw FormatError("\(field) is outside the years 0000 to 9999") }
    }
}

extension Event {
    /// Makes an event from a row of the read model. It checks the row like the log, because another program may have written the
    /// row.
    /// - Throws: ``FormatError`` with event, version and field
    init(
        row id: EventID, owner: Int64, version: Int32, name: String, address: String?, lat: Double, lon: Double,
        startedAt: Timestamp, endedAt: Timestamp?, isCancelled: Bool = false, isHidden: Bool = false
    ) throws(FormatError) {
        do {
            guard id.rawValue > 0 else { throw FormatError("id is not a number from 1") }
            guard owner > 0 else { throw FormatError("owner_id is not a number from 1") }
            // The next version must fit too.
            guard (1..<Int32.max).contains(version) else {
                throw FormatError("version is not a number from 1 to \(Int32.max - 1)")
            }
            self.init(
                id: id, owner: UserID(rawValue: owner), version: version,
                details: try EventDetails(
                    storedName: name, address: address, lat: lat, lon: lon, startedAt: startedAt, endedAt: endedAt),
                isCancelled: isCancelled, isHidden: isHidden)
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
    /// Makes a unit vector from a row of the read model.
    /// - Throws: ``FormatError``
    init(storedX x: Double, y: Double, z: Double) throws(FormatError) {
        // Rounding keeps a coordinate of a unit vector at 1 or below; the last bit may differ on another processor.
        let range = -1.000_001...1.000_001
        guard range.contains(x), range.contains(y), range.contains(z) else {
            throw FormatError("x, y or z of the read model \(EventsProjection.schema) is not a number from -1 to 1")
        }
        self.init(x: x, y: y, z: z)
    }
}
