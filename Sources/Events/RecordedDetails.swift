package import Encoding
package import EventStore

/// The details of an event as the log has them: the times are facts, and all that tells where and what is personal.
package struct RecordedDetails: Sendable, Hashable {
    package var startedAt: Timestamp
    package var endedAt: Timestamp?
    package var personal: Personal<PersonalDetails>

    /// What an erasure ends.
    package struct PersonalDetails: Sendable, Hashable {
        package var name: String
        package var address: String?
        package var coordinates: Coordinates

        /// The members, as the log stores them.
        static let members: Set<String> = ["name", "address", "lat", "lon"]
    }

    package init(_ details: EventDetails) {
        (startedAt, endedAt) = (details.startedAt, details.endedAt)
        personal = .present(
            PersonalDetails(name: details.name, address: details.address, coordinates: details.coordinates))
    }

    /// All details, unless they are erased.
    package var details: Personal<EventDetails> {
        personal.map {
            EventDetails(
                name: $0.name, address: $0.address, coordinates: $0.coordinates, startedAt: startedAt, endedAt: endedAt)
        }
    }
}

extension RecordedDetails {
    /// - Throws: `FormatError`
    init(stored content: EventContent) throws {
        startedAt = try content.facts.stored("started_at") { $0.storedTimestamp }
        endedAt = try content.facts.stored("ended_at") { $0.storedOptional { $0.storedTimestamp } }
        personal = try content.readPersonal { data in
            PersonalDetails(
                name: try data.stored("name") { $0.storedString },
                address: try data.stored("address") { $0.storedOptional { $0.storedString } },
                coordinates: Coordinates(
                    lat: try data.stored("lat") { $0.storedDouble }, lon: try data.stored("lon") { $0.storedDouble }))
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
        switch personal {
        case .present(let personal):
            return [
                .init(name: "name", value: .string(personal.name)),
                .init(name: "address", value: JSON(personal.address)),
                .init(name: "lat", value: JSON(personal.coordinates.lat)),
                .init(name: "lon", value: JSON(personal.coordinates.lon)),
            ] + times
        case .erased: return times
        }
    }
}
