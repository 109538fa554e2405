// Parts of JSON, for callers that write many texts of one shape between literals, without a ``JSON`` value. The bytes are those
// of ``JSON/utf8``; the caller makes the whole valid.

extension String {
    /// In quotes, with what must be escaped escaped.
    public func writeJSON(into output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        var text = self
        // Without the pointer, searching and copying take three times as long.
        text.withUTF8 { bytes in
            var copied = 0
            for unsafe(offset, byte) in unsafe bytes.enumerated()
            where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                unsafe output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[copied..<offset]))
                output.append(contentsOf: Self.escape(byte).utf8)
                copied = offset + 1
            }
            unsafe output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[copied...]))
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

extension Int64 {
    /// Its digits, without a text in between.
    public func writeJSON(into output: inout [UInt8]) {
        if self < 0 { output.append(UInt8(ascii: "-")) }
        let start = output.count
        var rest = magnitude
        repeat {
            output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        output[start...].reverse()
    }
}

extension Double {
    /// The shortest digits that are the same number.
    /// - Precondition: the value is finite; JSON has no other numbers.
    public func writeJSON(into output: inout [UInt8]) {
        precondition(isFinite, "JSON has no number for \(self)")
        output.append(contentsOf: description.utf8)
    }
}

extension Timestamp {
    /// Its description in quotes.
    public func writeJSON(into output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        write(into: &output)
        output.append(UInt8(ascii: "\""))
    }
}
