import Testing

@testable import Encoding

@Suite struct `Reading a JSON text` {
    @Test(
        arguments: [
            (" null\r\n", .null), ("\ttrue ", .bool(true)), ("\nfalse", .bool(false)), (#""tea""#, "tea"), ("[ ]", []),
            ("{ }", [:]), ("\"\u{7F}\"", "\u{7F}"),
            (
                #"{"event" : {"id": 12, "tags": ["a", null, [true]]}}"#,
                ["event": ["id": JSON(12), "tags": ["a", .null, [.bool(true)]]]]
            ),
            // Escapes of RFC 8259, and characters by number in either case of the digits.
            (#""\"\\\/\b\f\n\r\t""#, .string("\"\\/\u{8}\u{C}\n\r\t")), (#""caf\u00e9 \u00E9 \u20ac""#, "café é €"),
            (#""\ud83c\udf89 and \uD83C\uDF89""#, "🎉 and 🎉"), (#""\ud800\udc00\udbff\udfff""#, "\u{10000}\u{10FFFF}"),
            (#""one\ntwo\tthree🎉\\four""#, "one\ntwo\tthree🎉\\four"), (#""a\u0000b""#, "a\0b"),
        ] as [(String, JSON)])
    func `a JSON text with white space around it is read as this value`(text: String, expected: JSON) throws {
        #expect(try JSON(utf8: text.utf8) == expected)
    }

    @Test func `members keep their order, all of one name are kept, and the last one counts`() throws {
        let json = try JSON(utf8: #"{"id":1,"lat":2,"id":3}"#.utf8)
        #expect(json["id"] == .number("3"))
        #expect(json.text == #"{"id":1,"lat":2,"id":3}"#)
        for text in [#"["id"]"#, #""id""#] { #expect(try JSON(utf8: text.utf8)["id"] == nil) }
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

    @Test func `a text nests 64 deep at most, and neighbours at one depth do not count`() throws {
        for text in [
            String(repeating: "[", count: 64) + String(repeating: "]", count: 64),
            String(repeating: #"{"a":"#, count: 64) + "1" + String(repeating: "}", count: 64),
            "[" + Array(repeating: "[[]]", count: 1_000).joined(separator: ",") + "]",
        ] { #expect(try JSON(utf8: text.utf8).text == text) }
        let deeper = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
        #expect(errorMessage(deeper) == "the nesting is deeper than 64 at line 1, column 65")
    }
}

@Suite struct `Reading a string in a JSON text` {
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
        ("{\n  \"name\": \"Tea\",\n  \"lat\": x\n}", "a value should stand here, at line 3, column 10"),
        (#""é" x"#, "something follows the JSON text at line 1, column 6"),
    ])
    func `a syntax error gives the reason, the line and the column in bytes`(text: String, expected: String) {
        #expect(errorMessage(text) == expected)
    }

    @Test func `a syntax error has its reason, line and column as values`() {
        #expect(throws: JSONSyntaxError(reason: "a value should stand here,", line: 2, column: 2)) {
            try JSON(utf8: "[\n x]".utf8)
        }
    }
}

private func errorMessage(_ text: String) -> String { errorMessage(Array(text.utf8)) }

private func errorMessage(_ bytes: [UInt8]) -> String {
    do throws(JSONSyntaxError) { return "none: \(try JSON(utf8: bytes))" } catch { return error.description }
}
