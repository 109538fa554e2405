extension JSON {
    /// The value as compact UTF-8 JSON text; the same value is the same bytes.
    public var utf8: [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(256)
        write(to: &output)
        return output
    }

    public var text: String { String(decoding: utf8, as: UTF8.self) }

    private func write(to output: inout [UInt8]) {
        switch self {
        case .null: output.append(contentsOf: "null".utf8)
        case .bool(true): output.append(contentsOf: "true".utf8)
        case .bool(false): output.append(contentsOf: "false".utf8)
        case .number(let digits): output.append(contentsOf: digits.utf8)
        case .string(let string): string.write(to: &output)
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                element.write(to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let object):
            output.append(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                member.name.write(to: &output)
                output.append(UInt8(ascii: ":"))
                member.value.write(to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }
}

extension String {
    fileprivate func write(to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        var text = self
        text.withUTF8 { bytes in
            var copied = 0
            for (offset, byte) in bytes.enumerated() where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
            {
                output.append(contentsOf: bytes[copied..<offset])
                output.append(contentsOf: Self.escape(byte).utf8)
                copied = offset + 1
            }
            output.append(contentsOf: bytes[copied...])
        }
        output.append(UInt8(ascii: "\""))
    }

    private static func escape(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "\""): #"\""#
        case UInt8(ascii: "\\"): #"\\"#
        case 0x0A: #"\n"#
        case 0x0D: #"\r"#
        case 0x09: #"\t"#
        case _: (byte < 0x10 ? #"\u000"# : #"\u00"#) + String(byte, radix: 16)
        }
    }
}
