package import Encoding
package import EventStore
package import Users

/// The details of an event as the log has them: the times are facts, and all that tells where and what is personal.
package struct RecordedDetails: Sendable, Hashable {
    /// The members that an erasure ends, as the log stores them.
    static let personalMembers = Set(["name", "address", "lat", "lon"] + EventText.allCases.map(\.rawValue))

    package var startedAt: Timestamp
    package var endedAt: Timestamp?
    /// All details, unless they are erased.
    package var details: Personal<EventDetails>

    package init(_ details: EventDetails) {
        (startedAt, endedAt) = (details.startedAt, details.endedAt)
        self.details = .present(details)
    }
}

extension RecordedDetails {
    /// - Throws: `FormatError`
    init(stored content: EventContent) throws {
        let startedAt = try content.facts.stored("started_at") { $0.storedTimestamp }
        let endedAt = try content.facts.stored("ended_at") { $0.storedOptional { $0.storedTimestamp } }
        (self.startedAt, self.endedAt) = (startedAt, endedAt)
        details = try content.readPersonal { data in
            EventDetails(
                name: try data.stored("name") { $0.storedString },
                address: try data.stored("address") { $0.storedOptional { $0.storedString } },
                coordinates: Coordinates(
                    lat: try data.stored("lat") { $0.storedDouble }, lon: try data.stored("lon") { $0.storedDouble }),
                startedAt: startedAt, endedAt: endedAt,
                texts: try EventText.allCases.reduce(into: [:]) { texts, name in
                    guard data[name.rawValue] != nil else { return }
                    texts[name] = try data.stored(name.rawValue) { $0.storedString }
                })
        }
        switch details {
        case .present(let details): try details.check()
        case .erased: try EventDetails.check(startedAt: startedAt, endedAt: endedAt)
        }
    }

    var stored: [JSONObject.Member] {
        let times: [JSONObject.Member] = [
            .init(name: "started_at", value: .string(startedAt.description)),
            .init(name: "ended_at", value: JSON(endedAt?.description)),
        ]
        switch details {
        case .present(let details):
            let texts = EventText.allCases.compactMap { name in
                details.texts[name].map { JSONObject.Member(name: name.rawValue, value: .string($0)) }
            }
            let rest = texts + times
            return [
                .init(name: "name", value: .string(details.name)),
                .init(name: "address", value: JSON(details.address)),
                .init(name: "lat", value: JSON(details.coordinates.lat)),
                .init(name: "lon", value: JSON(details.coordinates.lon)),
            ] + rest
        case .erased: return times
        }
    }
}

/// The owner of an event and its details, as the log has them together.
package struct OwnedDetails: Sendable, Hashable {
    package var owner: UserID
    package var details: RecordedDetails

    package init(_ details: EventDetails, of owner: UserID) {
        self.owner = owner
        self.details = RecordedDetails(details)
    }

    /// - Throws: `FormatError`
    init(stored content: EventContent) throws {
        owner = UserID(rawValue: try content.facts.stored("owner") { $0.storedID })
        details = try RecordedDetails(stored: content)
    }

    var stored: JSON {
        .object(JSONObject(members: [JSONObject.Member(name: "owner", value: JSON(owner.rawValue))] + details.stored))
    }
}
