import Testing

@testable import Encoding

@Suite struct `A JSON text` {
    @Test func `may be any value, with space around it`() throws {
        #expect(try JSON(utf8: " null\r\n".utf8) == .null)
        #expect(try JSON(utf8: "\ttrue ".utf8) == .bool(true))
        #expect(try JSON(utf8: "\nfalse".utf8) == .bool(false))
        #expect(try JSON(utf8: #""tea""#.utf8) == "tea")
        #expect(try JSON(utf8: "[ ]".utf8) == [])
        #expect(try JSON(utf8: "{ }".utf8) == [:])
    }

    @Test func `nests arrays and objects`() throws {
        let text = #"{"event" : {"id": 12, "tags": ["a", null, [true]]}}"#
        let expected: JSON = ["event": ["id": JSON(12), "tags": ["a", .null, [.bool(true)]]]]
        #expect(try JSON(utf8: text.utf8) == expected)
    }

    @Test func `keeps the order of members`() throws {
        let text = #"{"name":1,"id":2,"lat":3}"#
        #expect(try JSON(utf8: text.utf8).text == text)
    }

    @Test func `keeps all members of one name, of which the last counts`() throws {
        let json = try JSON(utf8: #"{"id":1,"lat":2,"id":3}"#.utf8)
        #expect(json["id"] == .number("3"))
        #expect(json.text == #"{"id":1,"lat":2,"id":3}"#)
    }

    @Test func `has no members where it is no object`() throws {
        #expect(try JSON(utf8: #"["id"]"#.utf8)["id"] == nil)
        #expect(try JSON(utf8: #""id""#.utf8)["id"] == nil)
    }

    @Test(arguments: [
        "0", "-0", "10", "-1.5", "1e400", "-1E+2", "2e-3", "0.0", "37.760000000000001", "123456789012345678901234567890",
    ])
    func `keeps the digits of a number`(digits: String) throws {
        #expect(try JSON(utf8: digits.utf8) == .number(digits))
        #expect(try JSON(utf8: "[\(digits)]".utf8) == [.number(digits)])
    }

    @Test(arguments: ["01", "-01", "+1", ".5", "1.", "1.e3", "1e", "1e+", "-", "--1", "NaN", "Infinity", "0x10", "1_000", "١"])
    func `has no other numbers than RFC 8259 has`(text: String) {
        #expect(throws: JSONSyntaxError.self) { try JSON(utf8: text.utf8) }
    }

    @Test func `may be 64 deep`() throws {
        let arrays = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(try JSON(utf8: arrays.utf8).text == arrays)
        let objects = String(repeating: #"{"a":"#, count: 64) + "1" + String(repeating: "}", count: 64)
        #expect(try JSON(utf8: objects.utf8).text == objects)
    }

    @Test func `may not be 65 deep`() {
        let text = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
        #expect(fault(text) == "the nesting is deeper than 64 at line 1, column 65")
    }

    @Test func `may have any number of neighbours at one depth`() throws {
        let text = "[" + Array(repeating: "[[]]", count: 1_000).joined(separator: ",") + "]"
        #expect(try JSON(utf8: text.utf8).text == text)
    }
}

@Suite struct `A string in a JSON text` {
    @Test func `may have each of the escapes`() throws {
        #expect(try JSON(utf8: #""\"\\\/\b\f\n\r\t""#.utf8) == .string("\"\\/\u{8}\u{C}\n\r\t"))
    }

    @Test func `may have characters escaped by number, in either case of digits`() throws {
        #expect(try JSON(utf8: #""caf\u00e9 \u00E9 \u20ac""#.utf8) == "café é €")
    }

    @Test func `may have surrogate pairs`() throws {
        #expect(try JSON(utf8: #""\ud83c\udf89 and \uD83C\uDF89""#.utf8) == "🎉 and 🎉")
        #expect(try JSON(utf8: #""\ud800\udc00\udbff\udfff""#.utf8) == "\u{10000}\u{10FFFF}")
    }

    @Test func `keeps what stands between escapes`() throws {
        #expect(try JSON(utf8: #""one\ntwo\tthree🎉\\four""#.utf8) == "one\ntwo\tthree🎉\\four")
    }

    @Test func `keeps an escaped null character`() throws {
        #expect(try JSON(utf8: #""a\u0000b""#.utf8) == "a\0b")
    }

    @Test func `keeps characters as they were composed`() throws {
        let decomposed: [UInt8] = [0x22, 0x65, 0xCC, 0x81, 0x22]
        #expect(try JSON(utf8: decomposed).utf8 == decomposed)
    }

    @Test(arguments: [
        #""\ud83c""#, #""\udf89""#, #""\ud83cx""#, #""\ud83c\n""#, #""\ud83c\ud83c""#, #""\udf89\ud83c""#, #""\udf89\udf89""#,
        #""\ud83c\u0041""#, #""\ud83cudf89""#,
    ])
    func `has no half a surrogate pair`(text: String) {
        #expect(fault(text) == "half a surrogate pair at line 1, column 2")
    }

    @Test(
        arguments: [
            [0xFF], [0xC3], [0xC3, 0x28], [0xA9], [0xC0, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
        ] as [[UInt8]])
    func `is valid UTF-8`(bytes: [UInt8]) {
        #expect(fault([0x20, 0x22] + bytes + [0x22]) == "the string is not valid UTF-8 at line 1, column 2")
        #expect(fault([0x22, 0x5C, 0x6E] + bytes + [0x22]) == "the string is not valid UTF-8 at line 1, column 1")
    }

    @Test(arguments: 0x00..<0x20 as Range<UInt8>)
    func `has no control character unescaped`(byte: UInt8) {
        #expect(fault([0x22, 0x61, byte, 0x22]) == "a control character stands unescaped in a string at line 1, column 3")
    }

    @Test func `may have a delete character`() throws {
        #expect(try JSON(utf8: "\"\u{7F}\"".utf8) == "\u{7F}")
    }
}

@Suite struct `What is wrong with a JSON text` {
    @Test(arguments: [
        ("", "the text ends where a value should stand at line 1, column 1"),
        ("  ", "the text ends where a value should stand at line 1, column 3"),
        ("[1,]", "a value should stand here, at line 1, column 4"),
        ("[1", "the text ends where a comma or a closing bracket should stand at line 1, column 3"),
        ("[1 2]", "a comma or a closing bracket should stand here, at line 1, column 4"),
        ("{a:1}", "a member's name in quotes should stand here, at line 1, column 2"),
        (#"{"a" 1}"#, "a colon should stand here, at line 1, column 6"),
        (#"{"a":}"#, "a value should stand here, at line 1, column 6"),
        (#"{"a":1,}"#, "a member's name in quotes should stand here, at line 1, column 8"),
        (#"{"a":1"#, "the text ends where a comma or a closing brace should stand at line 1, column 7"),
        ("tru", "the text ends where true should stand at line 1, column 4"),
        ("fals3", "false should stand here, at line 1, column 5"),
        ("nil", "null should stand here, at line 1, column 2"),
        ("-", "the text ends where a digit should stand at line 1, column 2"),
        ("[1.]", "a digit should stand here, at line 1, column 4"),
        ("1 2", "something follows the JSON text at line 1, column 3"),
        ("{}\u{0}", "something follows the JSON text at line 1, column 3"),
        (#""tea"#, "the string does not end at line 1, column 1"),
        (#"["tea]"#, "the string does not end at line 1, column 2"),
        (#""\x""#, "unknown escape at line 1, column 2"),
        (#""a\"#, "the text ends where the rest of an escape should stand at line 1, column 4"),
        (#""\u12""#, "a hexadecimal digit should stand here, at line 1, column 6"),
        ("\u{FEFF}{}", "a value should stand here, at line 1, column 1"),
        ("'tea'", "a value should stand here, at line 1, column 1"),
    ])
    func `is told, and where`(text: String, expected: String) {
        #expect(fault(text) == expected)
    }

    @Test func `is told by line`() {
        let text = """
            {
              "name": "Tea",
              "lat": x
            }
            """
        #expect(fault(text) == "a value should stand here, at line 3, column 10")
    }

    @Test func `is told by column in bytes`() {
        #expect(fault(#""é" x"#) == "something follows the JSON text at line 1, column 6")
    }

    @Test func `is told by offset in bytes`() {
        #expect(throws: JSONSyntaxError(reason: "a value should stand here,", offset: 3, line: 2, column: 2)) {
            try JSON(utf8: "[\n x]".utf8)
        }
    }
}

private func fault(_ text: String) -> String { fault(Array(text.utf8)) }

private func fault(_ bytes: [UInt8]) -> String {
    do throws(JSONSyntaxError) { return "none: \(try JSON(utf8: bytes))" } catch { return error.description }
}
