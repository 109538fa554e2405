internal import Encoding
public import Events
internal import Users

extension Event {
    /// Writes an event as the v1 API shows it: exactly these keys in this order, nulls present, and behind them the texts that it has. No
    /// other code writes events.
    ///
    /// A node renders every event at its start and every version once, and sends these bytes. So this function writes them directly,
    /// without Codable and without a ``JSON``. `EventJSONTests` compares the three.
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
        bytes.append("}")
        // Most events have none.
        if !details.texts.isEmpty {
            for name in EventText.allCases {
                guard let text = details.texts[name] else { continue }
                bytes.append(",")
                name.rawValue.writeJSON(into: &bytes)
                bytes.append(":")
                text.writeJSON(into: &bytes)
            }
        }
        bytes.append("}")
    }
}
