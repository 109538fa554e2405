import Encoding
import Testing

@Suite struct `The example of the encodings` {
    @Test(arguments: [
        (#"{"table":{"guests":4,"time":"2030-09-14T20:00:00.5+02:00"}}"#, false),
        (#"{"table":{"guests":"4","time":"2030-09-14T18:00:00.500Z"}}"#, false),
        ("table[guests]=4&table[time]=2030-09-14T18:00:00.500Z", true),
        ("table%5Bguests%5D=4&table%5Btime%5D=2030-09-14T20%3A00%3A00.5%2B02%3A00", true),
    ])
    func `a reservation reads the same from JSON and from a form, and is written in one way`(body: String, isForm: Bool) throws {
        let reservation = try #require(try Reservation(Array(body.utf8), isForm: isForm))
        #expect(reservation.json.text == #"{"guests":4,"time":"2030-09-14T18:00:00.500Z"}"#)
    }

    @Test func `a reservation with a missing or unusable field is none, and a broken body throws`() throws {
        #expect(try Reservation(Array(#"{"table":{"guests":true}}"#.utf8), isForm: false) == nil)
        #expect(throws: JSONSyntaxError.self) { try Reservation(Array("{".utf8), isForm: false) }
        #expect(throws: FormSyntaxError.self) { try Reservation(Array("table=%FF".utf8), isForm: true) }
    }
}
