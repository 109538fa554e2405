public import Encoding
internal import EventStore

/// The details of an event, all of them valid. `docs/extending.md` shows how to add a field.
public struct EventDetails: Sendable, Hashable {
    public var name: String
    public var address: String?
    public var coordinates: Coordinates
    public var startedAt: Timestamp
    public var endedAt: Timestamp?
    /// The optional texts that the event has.
    public var texts: [EventText: String]

    /// Takes valid values of the required fields. ``init(_:)`` checks the fields of a client.
    public init(name: String, coordinates: Coordinates, startedAt: Timestamp) {
        self.init(name: name, address: nil, coordinates: coordinates, startedAt: startedAt, endedAt: nil, texts: [:])
    }

    /// Takes valid values of all fields: no field has a default, so that the compiler finds every place that a new one must pass.
    init(
        name: String, address: String?, coordinates: Coordinates, startedAt: Timestamp, endedAt: Timestamp?,
        texts: [EventText: String]
    ) {
        self.name = name
        self.address = address
        self.coordinates = coordinates
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.texts = texts
    }
}

extension EventDetails {
    /// - Parameter isStrict: refuses an end before the start. The old clients' requests have such ends.
    /// - Throws: ``EventRejection/invalid(errors:)`` with all validation errors
    public init(_ json: JSON, isStrict: Bool = false) throws(EventRejection) {
        var fields = EventFields(json)
        let lat = fields.required("lat", fields.number("lat", in: EventFields.latitudes))
        let lon = fields.required("lon", fields.number("lon", in: EventFields.longitudes))
        let name = fields.required("name", fields.name())
        let startedAt = fields.required("started_at", fields.time("started_at"))
        let address = fields.address().optional
        let endedAt = fields.time("ended_at").optional
        if isStrict, let startedAt, let endedAt, endedAt < startedAt { fields.endsBeforeStart() }
        let texts = fields.texts().compactMapValues(\.self)
        guard fields.errors.isEmpty, let lat, let lon, let name, let startedAt else { throw .invalid(errors: fields.errors) }
        self.init(
            name: name, address: address, coordinates: Coordinates(lat: lat, lon: lon), startedAt: startedAt, endedAt: endedAt,
            texts: texts)
    }
}

extension EventDetails {
    /// The longest stored text, in bytes. The rules for new events are stricter and may change. This limit bounds the memory of a leaf
    /// with 64 events.
    static let storedTextLimitBytes = 1_048_576

    /// Checks values from the log or from a read model. No other code checks them.
    /// - Throws: ``FormatError`` with the field, never its value
    func check() throws(FormatError) {
        try Self.check(text: name, "name")
        if let address { try Self.check(text: address, "address") }
        // A range contains no NaN.
        guard EventFields.latitudes.contains(coordinates.lat) else { throw FormatError("lat is not a number from -90 to 90") }
        guard EventFields.longitudes.contains(coordinates.lon) else { throw FormatError("lon is not a number from -180 to 180") }
        try Self.check(startedAt: startedAt, endedAt: endedAt)
        for (name, text) in texts { try name.check(stored: text) }
    }

    /// The same for the times alone.
    static func check(startedAt: Timestamp, endedAt: Timestamp?) throws(FormatError) {
        try check(time: startedAt, "started_at")
        if let endedAt { try check(time: endedAt, "ended_at") }
    }

    static func check(text: String, _ field: String) throws(FormatError) {
        guard text.utf8.count <= storedTextLimitBytes else {
            throw FormatError("\(field) is longer than \(storedTextLimitBytes) bytes")
        }
        guard !text.contains(byte: 0) else { throw FormatError("\(field) contains U+0000") }
    }

    private static func check(time: Timestamp, _ field: String) throws(FormatError) {
        guard time >= .earliest, time <= .latest else { throw FormatError("\(field) is outside the years 0000 to 9999") }
    }
}

/// A change of some of the details (RFC 7396): an absent field stays as it is, null clears it.
public struct EventPatch: Sendable, Hashable {
    // `nil` keeps a value. The inner `nil` of a field that may be absent clears it.
    var lat: Double?
    var lon: Double?
    var name: String?
    var startedAt: Timestamp?
    var address: String??
    var endedAt: Timestamp??
    /// The texts that change.
    var texts: [EventText: String?] = [:]

    /// A patch that changes nothing.
    static let empty = EventPatch()

    private init() {}

    /// Ignores unknown fields beside known ones.
    /// - Throws: ``EventRejection/invalid(errors:)`` with all validation errors, also if a required field is null, and if the patch has
    ///   unknown fields only
    public init(_ json: JSON) throws(EventRejection) {
        var fields = EventFields(json)
        func required<Value>(_ name: String, _ field: EventFields.Field<Value>) -> Value? {
            if case .blank = field { fields.isBlank(name) }
            return field.optional
        }
        func clearable<Value>(_ field: EventFields.Field<Value>) -> Value?? {
            switch field {
            case .absent, .unusable: nil
            case .value(let value): .some(value)
            case .blank: .some(nil)
            }
        }
        lat = required("lat", fields.number("lat", in: EventFields.latitudes))
        lon = required("lon", fields.number("lon", in: EventFields.longitudes))
        name = required("name", fields.name())
        startedAt = required("started_at", fields.time("started_at"))
        address = clearable(fields.address())
        endedAt = clearable(fields.time("ended_at"))
        texts = fields.texts()
        if self == .empty { fields.refuseUnknown() }
        guard fields.errors.isEmpty else { throw .invalid(errors: fields.errors) }
    }

    /// A replacement, as every client could send it before there were texts: an absent address or end is cleared, and an absent text
    /// stays, because an old app must not delete what it never knew.
    /// - Parameter isStrict: as for ``EventDetails/init(_:isStrict:)``
    /// - Throws: ``EventRejection/invalid(errors:)`` with all validation errors
    public init(replacing json: JSON, isStrict: Bool = false) throws(EventRejection) {
        let details = try EventDetails(json, isStrict: isStrict)
        (lat, lon) = (details.coordinates.lat, details.coordinates.lon)
        (name, startedAt) = (details.name, details.startedAt)
        (address, endedAt) = (.some(details.address), .some(details.endedAt))
        var fields = EventFields(json)
        texts = fields.texts()
    }

    func applied(to details: EventDetails) -> EventDetails {
        EventDetails(
            name: name ?? details.name,
            address: address ?? details.address,
            coordinates: Coordinates(lat: lat ?? details.coordinates.lat, lon: lon ?? details.coordinates.lon),
            startedAt: startedAt ?? details.startedAt,
            endedAt: endedAt ?? details.endedAt,
            texts: texts.reduce(into: details.texts) { $0[$1.key] = $1.value })
    }
}
