import Encoding
import Testing

@testable import EventStore

@Suite struct `Upcasting stored data` {
    @Test(
        arguments: [
            (1, #"{"minutes":3}"#, TeaDomainEvent.brewed(seconds: 180, sort: nil)),
            (2, #"{"seconds":200}"#, .brewed(seconds: 200, sort: nil)),
            (3, #"{"seconds":200,"sort":"Assam"}"#, .brewed(seconds: 200, sort: "Assam")),
        ] as [(Int16, String, TeaDomainEvent)])
    func `data of an old format are upcast step by step to the current one`(format: Int16, text: String, event: TeaDomainEvent)
        throws
    {
        #expect(try TeaDomainEvent.decode(StoredEvent(type: "TeaBrewed", format: format, facts: Array(text.utf8))) == event)
    }
}

@Suite struct `Decoding stored data` {
    @Test func `data are written in the current format`() {
        let stored = TeaDomainEvent.brewed(seconds: 180, sort: nil).stored
        #expect(stored.type == "TeaBrewed")
        #expect(stored.data.text == #"{"seconds":180,"sort":null}"#)
        #expect(TeaDomainEvent.writtenFormat(of: "TeaBrewed") == 3)
        #expect(TeaDomainEvent.writtenFormat(of: "TeaDrunk") == 1)
    }

    @Test(
        arguments: [
            // Data of an old format are not decoded as the current one.
            ("TeaBrewed", 3, #"{"seconds":200}"#, "TeaBrewed, format 3: no usable sort in the stored data"),
            ("TeaBrewed", 1, #"{"minutes":"s3cret"}"#, "TeaBrewed, format 1: no usable minutes in the stored data"),
            ("TeaSpilt", 1, "{}", "no stored type TeaSpilt in category tea"),
            ("TeaDrunk", 1, "s3cret", "TeaDrunk, format 1: a value should stand here, at line 1, column 1"),
        ] as [(String, Int16, String, String)])
    func `unusable data are refused, and the error does not show their values`(
        type: String, format: Int16, text: String, reason: String
    ) {
        #expect(throws: FormatError(reason)) {
            try TeaDomainEvent.decode(StoredEvent(type: type, format: format, facts: Array(text.utf8)))
        }
    }

    @Test func `data in an unknown format are refused`() {
        for format in [4, 99, 0, -1, .max, .min] as [Int16] {
            #expect(throws: FormatError("TeaBrewed has formats 1 to 3, not \(format): written by a newer program")) {
                try TeaDomainEvent.decode(StoredEvent(type: "TeaBrewed", format: format, facts: Array(#"{"minutes":3}"#.utf8)))
            }
        }
    }
}

@Suite struct `Reading a field of stored data` {
    private let data: JSON = ["text": "tea", "number": JSON(7), "none": .null, "time": "2013-09-16T00:00:00.000Z"]

    @Test func `a field is read as the type of its format`() throws {
        #expect(try data.stored("text", \.storedString) == "tea")
        #expect(try data.stored("number", \.storedInteger) == 7)
        #expect(try data.stored("number", \.storedDouble) == 7)
        #expect(try data.stored("time", \.storedTimestamp) == Timestamp(milliseconds: 1_379_289_600_000))
    }

    @Test func `a field of another type is refused`() {
        #expect(throws: FormatError("no usable text in the stored data")) { try data.stored("text", \.storedInteger) }
        #expect(throws: FormatError("no usable text in the stored data")) { try data.stored("text", \.storedTimestamp) }
        #expect(throws: FormatError("no usable number in the stored data")) { try data.stored("number", \.storedString) }
        #expect(throws: FormatError("no usable none in the stored data")) { try data.stored("none", \.storedString) }
        #expect(throws: FormatError("no usable absent in the stored data")) { try data.stored("absent", \.storedString) }
    }

    @Test func `a nullable field may be null but not absent`() throws {
        #expect(try data.stored("none") { $0.storedOptional(\.storedString) } == nil)
        #expect(try data.stored("text") { $0.storedOptional(\.storedString) } == "tea")
        #expect(throws: FormatError("no usable number in the stored data")) {
            try data.stored("number") { $0.storedOptional(\.storedString) }
        }
        #expect(throws: FormatError("no usable absent in the stored data")) {
            try data.stored("absent") { $0.storedOptional(\.storedString) }
        }
    }
}
