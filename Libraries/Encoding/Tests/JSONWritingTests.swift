import TestChance
import Testing

@testable import Encoding

@Suite struct `Writing a JSON value` {
    @Test(
        arguments: [
            // Without white space, and in the order of the members.
            (
                [
                    "name": "Tea", "id": JSON(12), "address": .null, "open": .bool(true), "full": .bool(false),
                    "tags": ["a", ["b"], [:], []],
                ], #"{"name":"Tea","id":12,"address":null,"open":true,"full":false,"tags":["a",["b"],{},[]]}"#
            ),
            // Only the characters that RFC 8259 requires are escaped, in names too.
            (
                .string("\"\\/\n\r\t\u{8}\u{C}\u{0}\u{1F}\u{7F}é🎉"),
                #""\"\\/\n\r\t\u0008\u000c\u0000\u001f\#u{7F}é🎉""#
            ), (["a\"b\n": .null], #"{"a\"b\n":null}"#),
            (JSON(String?.none), "null"), (JSON(String?.some("tea")), #""tea""#),
            (JSON(Int64.min), "-9223372036854775808"), (JSON(Int64.max), "9223372036854775807"), (JSON(Int(-7)), "-7"),
            (JSON(Int32(-7)), "-7"), (JSON(Int16(-7)), "-7"),
        ] as [(JSON, String)])
    func `a JSON value is written as these bytes of UTF-8`(json: JSON, expected: String) {
        #expect((json.text, json.utf8) == (expected, Array(expected.utf8)))
    }

    @Test func `a number that was read keeps its digits`() throws {
        let text = #"[1e400,-0,37.760000000000001,1E+2,123456789012345678901234567890]"#
        #expect(try JSON(utf8: text.utf8).text == text)
    }

    @Test(arguments: [0, 7, 10, 1_234_567_890, -1, -10, .max, .min] as [Int64])
    func `both ways of writing whole numbers give the same digits`(number: Int64) {
        var bytes = Array("x".utf8)
        number.writeJSON(into: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "x\(number)")
    }

    @Test(arguments: [
        (37.76, "37.76"), (-122.43, "-122.43"), (90.0, "90.0"), (-0.0, "-0.0"), (0.1 + 0.2, "0.30000000000000004"),
        (1e16, "1e+16"), (.leastNonzeroMagnitude, "5e-324"), (.greatestFiniteMagnitude, "1.7976931348623157e+308"),
    ])
    func `a number is written with the shortest digits that read back equal`(value: Double, expected: String) {
        #expect(JSON(value).text == expected)
    }

    @Test func `every finite number reads back bit by bit`() throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<20_000 {
            let value = Double(bitPattern: generator.next())
            guard value.isFinite else { continue }
            try #require(try readBack(value)?.bitPattern == value.bitPattern, "\(value)")
        }
    }

    @Test func `every coordinate reads back bit by bit`() throws {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<20_000 {
            let value = Double.random(in: -180...180, using: &generator)
            try #require(try readBack(value)?.bitPattern == value.bitPattern, "\(value)")
        }
    }

    @Test func `a written JSON value reads back as the same value`() throws {
        let json: JSON = ["a\u{0}\"\\\n🎉": ["\u{1F}", .number("1e400"), .null, .bool(false), ["x": []]]]
        #expect(try JSON(utf8: json.utf8) == json)
    }

    private func readBack(_ value: Double) throws -> Double? {
        guard case .number(let digits) = try JSON(utf8: JSON(value).utf8) else { return nil }
        return Double(parsing: digits)
    }
}

@Suite struct `Comparing JSON values` {
    @Test func `texts and names are equal if their bytes are`() {
        let (composed, decomposed): (JSON, JSON) = ("\u{E9}", "e\u{301}")
        #expect(composed == "\u{E9}")
        #expect(composed != decomposed)
        #expect(JSON.number("1") != "1")
        #expect(Set([composed, decomposed, "\u{E9}"]).count == 2)
        let object: JSON = ["\u{E9}": .number("1"), "e\u{301}": .number("2")]
        #expect(object["\u{E9}"] == .number("1"))
        #expect(object["e\u{301}"] == .number("2"))
        #expect(object != ["\u{E9}": .number("1"), "\u{E9}": .number("2")])
        #expect(JSONObject.Member(name: "\u{E9}", value: .null) != JSONObject.Member(name: "e\u{301}", value: .null))
    }

    /// Swift's own comparison of these marks takes a tenth of a second or more.
    @Test func `a lookup beside a name of 32,000 combining marks takes no longer than any other`() {
        let marks = String(repeating: "\u{301}\u{316}", count: 16_000)
        let json = JSON.object(JSONObject(members: [.init(name: marks, value: .string(marks))]))
        let elapsed = processorTime {
            for _ in 0..<20 {
                #expect(json["name"] == nil)
                #expect(json[marks] != "name")
            }
        }
        #expect(elapsed < .seconds(4))
    }
}

@Suite struct `Changing a JSON object` {
    @Test func `a changed member moves behind the others`() {
        var object = JSONObject(members: [.init(name: "a", value: "1"), .init(name: "b", value: "2")])
        object["a"] = "3"
        #expect(JSON.object(object).text == #"{"b":"2","a":"3"}"#)
    }

    @Test func `setting a name to nil removes all its members`() {
        var object = JSONObject(members: [
            .init(name: "a", value: "1"), .init(name: "b", value: "2"), .init(name: "a", value: "3"),
        ])
        object["a"] = nil
        #expect(JSON.object(object).text == #"{"b":"2"}"#)
    }
}

@Suite struct `Splitting a text by its bytes` {
    @Test func `the parts between separators come with the empty ones, whatever stands beside a separator`() {
        #expect("1,2,,\u{301}3".parts(separatedBy: ",") == ["1", "2", "", "\u{301}3"])
        #expect("".parts(separatedBy: ",") == [""])
        #expect(String(repeating: "\u{301}\u{316}", count: 16_000).parts(separatedBy: "-").count == 1)
    }
}
