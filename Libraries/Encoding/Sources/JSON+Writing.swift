extension JSON {
    /// The value as compact UTF-8 JSON text; the same value is the same bytes.
    public var utf8: [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(256)
        write(into: &output)
        return output
    }

    public var text: String { String(decoding: utf8, as: UTF8.self) }

    private func write(into output: inout [UInt8]) {
        switch self {
        case .null: output.append(contentsOf: "null".utf8)
        case .bool(true): output.append(contentsOf: "true".utf8)
        case .bool(false): output.append(contentsOf: "false".utf8)
        case .number(let digits): output.append(contentsOf: digits.utf8)
        case .string(let string): string.writeJSON(into: &output)
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                element.write(into: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let object):
            output.append(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                member.name.writeJSON(into: &output)
                output.append(UInt8(ascii: ":"))
                member.value.write(into: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }
}
