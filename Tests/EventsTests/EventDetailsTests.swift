import Encoding
import Testing

@testable import Events

@Suite struct `Reading the details of an event` {
    @Test func `the details are read from a client's fields`() throws {
        #expect(try EventDetails(.object(sent)) == .picnic)
    }

    @Test func `address and end are optional`() throws {
        let details = try EventDetails([
            "name": "Concert", "lat": .number("-33.5"), "lon": .number("151"), "started_at": "2013-09-16T03:30:00Z",
        ])
        #expect(details == .concert)
    }

    @Test func `null stands for no address and no end`() throws {
        let details = try picnic(("address", .null), ("ended_at", .null))
        #expect(details.address == nil)
        #expect(details.endedAt == nil)
    }

    @Test(arguments: ["", "  "]) func `an end of white space stands for no end`(text: String) throws {
        #expect(try picnic(("ended_at", .string(text))).endedAt == nil)
    }

    @Test func `numbers are accepted as strings`() throws {
        let details = try picnic(("lat", "37.760000000000005"), ("lon", " -122.43 "))
        #expect(details.coordinates == Coordinates(lat: 37.760000000000005, lon: -122.43))
    }

    @Test func `unknown fields are ignored`() throws {
        #expect(try picnic(("id", "7"), ("owner", ["id": JSON(2)]), ("user", .null)) == .picnic)
    }

    @Test func `the poles and both longitudes of the date line are accepted`() throws {
        #expect(try picnic(("lat", .number("90")), ("lon", .number("180"))).coordinates == Coordinates(lat: 90, lon: 180))
        #expect(try picnic(("lat", .number("-90.0")), ("lon", "-180")).coordinates == Coordinates(lat: -90, lon: -180))
    }

    @Test func `a text keeps its spaces`() throws {
        let details = try picnic(("name", " Tea 🎉\n"), ("address", "  "))
        #expect(details.name == " Tea 🎉\n")
        #expect(details.address == "  ")
    }

    @Test func `a text of 255 characters of any size is accepted`() throws {
        let text = String(repeating: "🎉", count: 255)
        let details = try picnic(("name", .string(text)), ("address", .string(text)))
        #expect(details.name == text)
        #expect(details.address == text)
    }
}

@Suite struct `Refusing the details of an event` {
    @Test(arguments: [[:], [], .null, "tea"] as [JSON])
    func `details without any field are reported as blank`(json: JSON) {
        #expect(sentences { try EventDetails(json) } == allBlank)
    }

    @Test(arguments: [JSON.null, "", "   ", "\t\n", "\u{A0}\u{3000}"])
    func `null and a text of white space are reported as blank`(blank: JSON) {
        let json: JSON = ["started_at": blank, "name": blank, "lon": blank, "lat": blank]
        #expect(sentences { try EventDetails(json) } == allBlank)
    }

    @Test(arguments: ["90.00000000000002", "-90.1", "91", "1e3", "1e400", "-1e400"])
    func `a latitude out of range is refused`(digits: String) {
        #expect(faults(("lat", .number(digits))) == ["Lat must be between -90 and 90"])
        #expect(faults(("lat", .string(digits))) == ["Lat must be between -90 and 90"])
    }

    @Test(arguments: ["180.00000000000003", "-180.1", "181", "1e400", "-1e400"])
    func `a longitude out of range is refused`(digits: String) {
        #expect(faults(("lon", .number(digits))) == ["Lon must be between -180 and 180"])
        #expect(faults(("lon", .string(digits))) == ["Lon must be between -180 and 180"])
    }

    @Test(arguments: ["north", "37,76", "nan", "inf", "0x10", "37.76°", .bool(true), [], [:], ["37.76"]] as [JSON])
    func `coordinates that are not numbers are refused`(value: JSON) {
        #expect(faults(("lat", value), ("lon", value)) == ["Lat is not a number", "Lon is not a number"])
    }

    @Test(arguments: [.number("7"), .bool(false), [], ["name": "Tea"]] as [JSON])
    func `names and addresses that are not texts are refused`(value: JSON) {
        #expect(faults(("name", value), ("address", value)) == ["Name is not a text", "Address is not a text"])
    }

    @Test func `a text of more than 255 characters is refused`() {
        let text = JSON.string(String(repeating: "é", count: 256))
        #expect(
            faults(("name", text), ("address", text)) == [
                "Name is too long (maximum is 255 characters)", "Address is too long (maximum is 255 characters)",
            ]
        )
    }

    @Test func `a text with one visible character of more than 255 code points is refused`() {
        let text = JSON.string("e" + String(repeating: "\u{301}", count: 255))
        #expect(faults(("name", text)) == ["Name is too long (maximum is 255 characters)"])
    }

    @Test(arguments: ["\0", "Tea\0", "\0Tea"])
    func `a text with a null character, which PostgreSQL cannot store, is refused`(text: String) {
        #expect(
            faults(("name", .string(text)), ("address", .string(text))) == [
                "Name contains a null character", "Address contains a null character",
            ]
        )
    }

    @Test(arguments: ["tomorrow", "2013-09-16", "2013-02-29T00:00:00Z", .number("1379289600"), .bool(true), [], [:]] as [JSON])
    func `a text that is not a time is refused`(value: JSON) {
        #expect(
            faults(("started_at", value), ("ended_at", value)) == [
                "Started at is not a valid time", "Ended at is not a valid time",
            ]
        )
    }

    @Test func `all errors are reported together and in a fixed order`() {
        let sent: JSON = [
            "ended_at": "soon", "address": .bool(true), "started_at": "now", "name": .number("1"), "lon": .number("-1e400"),
            "lat": "x",
        ]
        let expected = [
            "Lat is not a number", "Lon must be between -180 and 180", "Name is not a text", "Started at is not a valid time",
            "Address is not a text", "Ended at is not a valid time",
        ]
        #expect(sentences { try EventDetails(sent) } == expected)
    }

    @Test func `errors keep their order whether fields are blank or unusable`() {
        let sent: JSON = ["lat": .number("91"), "name": "Tea", "ended_at": "soon"]
        let expected = [
            "Lat must be between -90 and 90", "Lon can't be blank", "Started at can't be blank", "Ended at is not a valid time",
        ]
        #expect(sentences { try EventDetails(sent) } == expected)
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
