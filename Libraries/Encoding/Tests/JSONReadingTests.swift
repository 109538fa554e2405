import Testing

@testable import Encoding

@Suite struct `Reading a JSON text` {
    @Test func `any JSON value with white space around it is accepted`() throws {
        #expect(try JSON(utf8: " null\r\n".utf8) == .null)
        #expect(try JSON(utf8: "\ttrue ".utf8) == .bool(true))
        #expect(try JSON(utf8: "\nfalse".utf8) == .bool(false))
        #expect(try JSON(utf8: #""tea""#.utf8) == "tea")
        #expect(try JSON(utf8: "[ ]".utf8) == [])
        #expect(try JSON(utf8: "{ }".utf8) == [:])
    }

    @Test func `arrays and objects nest`() throws {
        let text = #"{"event" : {"id": 12, "tags": ["a", null, [true]]}}"#
        let expected: JSON = ["event": ["id": JSON(12), "tags": ["a", .null, [.bool(true)]]]]
        #expect(try JSON(utf8: text.utf8) == expected)
    }

    @Test func `members keep their order`() throws {
        let text = #"{"name":1,"id":2,"lat":3}"#
        #expect(try JSON(utf8: text.utf8).text == text)
    }

    @Test func `all members of one name are kept, and the last one counts`() throws {
        let json = try JSON(utf8: #"{"id":1,"lat":2,"id":3}"#.utf8)
        #expect(json["id"] == .number("3"))
        #expect(json.text == #"{"id":1,"lat":2,"id":3}"#)
    }

    @Test func `a JSON value that is not an object has no members`() throws {
        #expect(try JSON(utf8: #"["id"]"#.utf8)["id"] == nil)
        #expect(try JSON(utf8: #""id""#.utf8)["id"] == nil)
    }

    @Test(arguments: [
        "0", "-0", "10", "-1.5", "1e400", "-1E+2", "2e-3", "0.0", "37.760000000000001", "123456789012345678901234567890",
    ])
    func `a number keeps its digits`(digits: String) throws {
        #expect(try JSON(utf8: digits.utf8) == .number(digits))
        #expect(try JSON(utf8: "[\(digits)]".utf8) == [.number(digits)])
    }

    @Test(arguments: ["01", "-01", "+1", ".5", "1.", "1.e3", "1e", "1e+", "-", "--1", "NaN", "Infinity", "0x10", "1_000", "١"])
    func `a number that RFC 8259 does not allow is refused`(text: String) {
        #expect(throws: JSONSyntaxError.self) { try JSON(utf8: text.utf8) }
    }

    @Test func `a text that nests 64 deep is accepted`() throws {
        let arrays = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(try JSON(utf8: arrays.utf8).text == arrays)
        let objects = String(repeating: #"{"a":"#, count: 64) + "1" + String(repeating: "}", count: 64)
        #expect(try JSON(utf8: objects.utf8).text == objects)
    }

    @Test func `a text that nests 65 deep is refused`() {
        let text = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
        #expect(errorMessage(text) == "the nesting is deeper than 64 at line 1, column 65")
    }

    @Test func `the nesting limit does not count neighbours at one depth`() throws {
        let text = "[" + Array(repeating: "[[]]", count: 1_000).joined(separator: ",") + "]"
        #expect(try JSON(utf8: text.utf8).text == text)
    }
}

@Suite struct `Reading a string in a JSON text` {
    @Test func `every escape of RFC 8259 is read`() throws {
        #expect(try JSON(utf8: #""\"\\\/\b\f\n\r\t""#.utf8) == .string("\"\\/\u{8}\u{C}\n\r\t"))
    }

    @Test func `a character escaped by number is read in either case of its digits`() throws {
        #expect(try JSON(utf8: #""caf\u00e9 \u00E9 \u20ac""#.utf8) == "café é €")
    }

    @Test func `a surrogate pair is read as one character`() throws {
        #expect(try JSON(utf8: #""\ud83c\udf89 and \uD83C\uDF89""#.utf8) == "🎉 and 🎉")
        #expect(try JSON(utf8: #""\ud800\udc00\udbff\udfff""#.utf8) == "\u{10000}\u{10FFFF}")
    }

    @Test func `characters between escapes are kept`() throws {
        #expect(try JSON(utf8: #""one\ntwo\tthree🎉\\four""#.utf8) == "one\ntwo\tthree🎉\\four")
    }

    @Test func `an escaped null character is kept`() throws {
        #expect(try JSON(utf8: #""a\u0000b""#.utf8) == "a\0b")
    }

    @Test func `characters keep their composition`() throws {
        let decomposed: [UInt8] = [0x22, 0x65, 0xCC, 0x81, 0x22]
        #expect(try JSON(utf8: decomposed).utf8 == decomposed)
    }

    @Test(arguments: [
        #""\ud83c""#, #""\udf89""#, #""\ud83cx""#, #""\ud83c\n""#, #""\ud83c\ud83c""#, #""\udf89\ud83c""#, #""\udf89\udf89""#,
        #""\ud83c\u0041""#, #""\ud83cudf89""#,
    ])
    func `half a surrogate pair is refused`(text: String) {
        #expect(errorMessage(text) == "half a surrogate pair at line 1, column 2")
    }

    @Test(
        arguments: [
            [0xFF], [0xC3], [0xC3, 0x28], [0xA9], [0xC0, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
        ] as [[UInt8]])
    func `a string that is not UTF-8 is refused`(bytes: [UInt8]) {
        #expect(errorMessage([0x20, 0x22] + bytes + [0x22]) == "the string is not valid UTF-8 at line 1, column 2")
        #expect(errorMessage([0x22, 0x5C, 0x6E] + bytes + [0x22]) == "the string is not valid UTF-8 at line 1, column 1")
    }

    @Test(arguments: 0x00..<0x20 as Range<UInt8>)
    func `an unescaped control character is refused`(byte: UInt8) {
        #expect(errorMessage([0x22, 0x61, byte, 0x22]) == "a control character stands unescaped in a string at line 1, column 3")
    }

    @Test func `a delete character is accepted`() throws {
        #expect(try JSON(utf8: "\"\u{7F}\"".utf8) == "\u{7F}")
    }
}

@Suite struct `Refusing a JSON text` {
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
    func `a syntax error gives the reason and the position`(text: String, expected: String) {
        #expect(errorMessage(text) == expected)
    }

    @Test func `a syntax error gives its line`() {
        let text = """
            {
              "name": "Tea",
              "lat": x
            }
            """
        #expect(errorMessage(text) == "a value should stand here, at line 3, column 10")
    }

    @Test func `a syntax error gives its column in bytes`() {
        #expect(errorMessage(#""é" x"#) == "something follows the JSON text at line 1, column 6")
    }

    @Test func `a syntax error gives its line and its column in bytes`() {
        #expect(throws: JSONSyntaxError(reason: "a value should stand here,", line: 2, column: 2)) {
            try JSON(utf8: "[\n x]".utf8)
        }
    }
}

private func errorMessage(_ text: String) -> String { errorMessage(Array(text.utf8)) }

private func errorMessage(_ bytes: [UInt8]) -> String {
    do throws(JSONSyntaxError) { return "none: \(try JSON(utf8: bytes))" } catch { return error.description }
}
