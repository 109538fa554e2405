import Encoding
import Testing

@testable import Events

@Suite struct `Reading the details of an event` {
    @Test func `the details are read from a client's fields: address and end are optional, others are ignored`() throws {
        #expect(try EventDetails(.object(sent)) == .picnic)
        #expect(try picnic(("id", "7"), ("owner", ["id": JSON(2)]), ("user", .null)) == .picnic)
        let concert: JSON = [
            "name": "Concert", "lat": .number("-33.5"), "lon": .number("151"), "started_at": "2013-09-16T03:30:00Z",
        ]
        #expect(try EventDetails(concert) == .concert)
        #expect(try picnic(("address", .null)).address == nil)
        for blank in [.null, "", "  "] as [JSON] { #expect(try picnic(("ended_at", blank)).endedAt == nil) }
    }

    @Test func `coordinates are numbers or strings, with the poles and both longitudes of the date line`() throws {
        let places: [(lat: JSON, lon: JSON, place: Coordinates)] = [
            ("37.760000000000005", " -122.43 ", Coordinates(lat: 37.760000000000005, lon: -122.43)),
            (.number("90"), .number("180"), Coordinates(lat: 90, lon: 180)),
            (.number("-90.0"), "-180", Coordinates(lat: -90, lon: -180)),
        ]
        for (lat, lon, place) in places { #expect(try picnic(("lat", lat), ("lon", lon)).coordinates == place) }
    }

    @Test func `a text keeps its spaces, and has up to 255 characters of any size`() throws {
        for text in [" Tea 🎉\n", String(repeating: "🎉", count: 255)] {
            let details = try picnic(("name", .string(text)), ("address", .string(text)))
            #expect((details.name, details.address) == (text, text))
        }
        #expect(try picnic(("address", "  ")).address == "  ")
    }
}

@Suite struct `Refusing the details of an event` {
    @Test func `absent fields, null and texts of white space are reported as blank`() {
        for json in [[:], [], .null, "tea"] as [JSON] { #expect(sentences { try EventDetails(json) } == allBlank) }
        for blank in [.null, "", "   ", "\t\n", "\u{A0}\u{3000}"] as [JSON] {
            let json: JSON = ["started_at": blank, "name": blank, "lon": blank, "lat": blank]
            #expect(sentences { try EventDetails(json) } == allBlank)
        }
    }

    @Test func `coordinates out of range are refused, as numbers and as texts`() {
        for digits in ["90.00000000000002", "-90.1", "91", "1e3", "1e400", "-1e400"] {
            for value in [.number(digits), .string(digits)] as [JSON] {
                #expect(faults(("lat", value)) == ["Lat must be between -90 and 90"], "\(digits)")
            }
        }
        for digits in ["180.00000000000003", "-180.1", "181", "1e400", "-1e400"] {
            for value in [.number(digits), .string(digits)] as [JSON] {
                #expect(faults(("lon", value)) == ["Lon must be between -180 and 180"], "\(digits)")
            }
        }
    }

    @Test func `a value of another type is refused`() {
        for value in ["north", "37,76", "nan", "inf", "0x10", "37.76°", .bool(true), [], [:], ["37.76"]] as [JSON] {
            #expect(faults(("lat", value), ("lon", value)) == ["Lat is not a number", "Lon is not a number"])
        }
        for value in [.number("7"), .bool(false), [], ["name": "Tea"]] as [JSON] {
            #expect(faults(("name", value), ("address", value)) == ["Name is not a text", "Address is not a text"])
        }
        for value in ["tomorrow", "2013-09-16", "2013-02-29T00:00:00Z", .number("1379289600"), .bool(true), [], [:]] as [JSON] {
            let expected = ["Started at is not a valid time", "Ended at is not a valid time"]
            #expect(faults(("started_at", value), ("ended_at", value)) == expected)
        }
    }

    /// PostgreSQL cannot store a null character.
    @Test func `a text of more than 255 code points or with a null character is refused`() {
        for text in [String(repeating: "é", count: 256), "e" + String(repeating: "\u{301}", count: 255)] {
            let expected = ["Name is too long (maximum is 255 characters)", "Address is too long (maximum is 255 characters)"]
            #expect(faults(("name", .string(text)), ("address", .string(text))) == expected)
        }
        for text in ["\0", "Tea\0", "\0Tea"] {
            let expected = ["Name contains a null character", "Address contains a null character"]
            #expect(faults(("name", .string(text)), ("address", .string(text))) == expected)
        }
    }

    @Test func `all errors are reported together and in a fixed order, whether fields are blank or unusable`() {
        let sent: JSON = [
            "ended_at": "soon", "address": .bool(true), "started_at": "now", "name": .number("1"), "lon": .number("-1e400"),
            "lat": "x",
        ]
        let expected = [
            "Lat is not a number", "Lon must be between -180 and 180", "Name is not a text", "Started at is not a valid time",
            "Address is not a text", "Ended at is not a valid time",
        ]
        #expect(sentences { try EventDetails(sent) } == expected)
        let blank: JSON = ["lat": .number("91"), "name": "Tea", "ended_at": "soon"]
        let blanks = [
            "Lat must be between -90 and 90", "Lon can't be blank", "Started at can't be blank", "Ended at is not a valid time",
        ]
        #expect(sentences { try EventDetails(blank) } == blanks)
    }
}

private let allBlank = ["Lat can't be blank", "Lon can't be blank", "Name can't be blank", "Started at can't be blank"]

/// The picnic, as a client sends it.
private let sent = JSONObject(members: [
    .init(name: "name", value: "Picnic"), .init(name: "address", value: "85 2nd Street"),
    .init(name: "lat", value: .number("37.76")), .init(name: "lon", value: .number("-122.43")),
    .init(name: "started_at", value: "2013-09-16T02:00:00+02:00"), .init(name: "ended_at", value: "2013-09-16T03:30:00Z"),
])

private func picnic(_ changes: (name: String, value: JSON)...) throws(EventRejection) -> EventDetails {
    try picnic(changes)
}

private func picnic(_ changes: [(name: String, value: JSON)]) throws(EventRejection) -> EventDetails {
    try EventDetails(sent(with: changes))
}

private func faults(_ changes: (name: String, value: JSON)...) -> [String] {
    sentences { try picnic(changes) }
}

private func sent(with changes: [(name: String, value: JSON)]) -> JSON {
    var object = sent
    for change in changes { object[change.name] = change.value }
    return .object(object)
}
