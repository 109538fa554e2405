internal import Encoding
public import Events
internal import Users

extension Event {
    /// How an event looks in the v1 API: exactly these keys in this order, nulls present. The only place that says so.
    ///
    /// A node renders every event at its start and every version once; what is answered are these bytes. So they are written
    /// straight away, without Codable and without a ``JSON`` in between. `EventJSONTests` holds them against both.
    public func writeJSON(into bytes: inout [UInt8]) {
        bytes.append(#"{"address":"#)
        if let address = details.address { address.writeJSON(into: &bytes) } else { bytes.append("null") }
        bytes.append(#","ended_at":"#)
        if let endedAt = details.endedAt { endedAt.writeJSON(into: &bytes) } else { bytes.append("null") }
        bytes.append(#","id":"#)
        id.rawValue.writeJSON(into: &bytes)
        bytes.append(#","lat":"#)
        details.coordinates.lat.writeJSON(into: &bytes)
        bytes.append(#","lon":"#)
        details.coordinates.lon.writeJSON(into: &bytes)
        bytes.append(#","name":"#)
        details.name.writeJSON(into: &bytes)
        bytes.append(#","started_at":"#)
        details.startedAt.writeJSON(into: &bytes)
        bytes.append(#","owner":{"id":"#)
        owner.rawValue.writeJSON(into: &bytes)
        bytes.append("}}")
    }
}

extension [UInt8] {
    /// Not a `String`, whose bytes are copied by way of more calls than there are bytes.
    fileprivate mutating func append(_ literal: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }
}
