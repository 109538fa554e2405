/// Why a text is not JSON, and where.
public struct JSONSyntaxError: Error, Hashable, CustomStringConvertible {
    public var reason: String
    /// From 1.
    public var line: Int
    /// In bytes from the start of the line, from 1.
    public var column: Int

    public var description: String { "\(reason) at line \(line), column \(column)" }
}

extension JSON {
    /// The deepest nesting of arrays and objects that is read.
    public static let depthLimit = 64

    /// Reads one JSON text (RFC 8259) in UTF-8.
    /// - Throws: ``JSONSyntaxError``
    public init(utf8 bytes: some Sequence<UInt8>) throws(JSONSyntaxError) {
        // An array is not copied.
        self = try unsafe Array(bytes).withUnsafeBufferPointer { buffer throws(JSONSyntaxError) in
            var reader = unsafe JSONReader(bytes: buffer)
            return try reader.text()
        }
    }
}

/// `@safe`: the buffer is there as long as the reader, and every access is before ``offset``, which never passes its end.
@safe private struct JSONReader {
    let bytes: UnsafeBufferPointer<UInt8>
    var offset = 0
    var depth = 0

    /// The only places that read the buffer are this property and ``read(from:to:)``. A checked index would make reading a third slower
    /// (measured with an array).
    private var current: UInt8? { unsafe offset < bytes.count ? bytes[offset] : nil }

    /// The bytes up to a place, or up to the present one, without a copy.
    private func read(from start: Int, to place: Int? = nil) -> UnsafeBufferPointer<UInt8> {
        unsafe UnsafeBufferPointer(rebasing: bytes[start..<(place ?? offset)])
    }

    private func failure(_ reason: String, at place: Int? = nil) -> JSONSyntaxError {
        let before = unsafe read(from: 0, to: place)
        let lineStart = unsafe before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let line = unsafe before.count { $0 == UInt8(ascii: "\n") } + 1
        return JSONSyntaxError(reason: reason, line: line, column: before.count - lineStart + 1)
    }

    private func unexpected(_ wanted: String) -> JSONSyntaxError {
        failure(current == nil ? "the text ends where \(wanted) should stand" : "\(wanted) should stand here,")
    }

    mutating func text() throws(JSONSyntaxError) -> JSON {
        skipSpace()
        let value = try value()
        skipSpace()
        guard current == nil else { throw failure("something follows the JSON text") }
        return value
    }

    private mutating func value() throws(JSONSyntaxError) -> JSON {
        switch current {
        case UInt8(ascii: "{"): return try nested { (reader) throws(JSONSyntaxError) in try reader.object() }
        case UInt8(ascii: "["): return try nested { (reader) throws(JSONSyntaxError) in try reader.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || byte.isDigit: return .number(try number())
        case _: throw unexpected("a value")
        }
    }

    private mutating func nested(_ read: (inout JSONReader) throws(JSONSyntaxError) -> JSON) throws(JSONSyntaxError) -> JSON {
        guard depth < JSON.depthLimit else { throw failure("the nesting is deeper than \(JSON.depthLimit)") }
        depth += 1
        defer { depth -= 1 }
        offset += 1
        skipSpace()
        return try read(&self)
    }

    private mutating func object() throws(JSONSyntaxError) -> JSON {
        if take("}") { return .object(JSONObject()) }
        var object = JSONObject(reserving: JSONObject.usualCount)
        while true {
            guard current == UInt8(ascii: "\"") else { throw unexpected("a member's name in quotes") }
            let name = try string()
            skipSpace()
            guard take(":") else { throw unexpected("a colon") }
            skipSpace()
            object.append(name: name, value: try value())
            skipSpace()
            if take("}") { return .object(object) }
            guard take(",") else { throw unexpected("a comma or a closing brace") }
            skipSpace()
        }
    }

    private mutating func array() throws(JSONSyntaxError) -> JSON {
        var elements: [JSON] = []
        if take("]") { return .array(elements) }
        while true {
            elements.append(try value())
            skipSpace()
            if take("]") { return .array(elements) }
            guard take(",") else { throw unexpected("a comma or a closing bracket") }
            skipSpace()
        }
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
        let start = offset
        offset += 1
        var unescaped: [UInt8]?
        var copied = offset
        // All bits of all bytes: text that is ASCII needs no validation.
        var bits: UInt8 = 0
        while let byte = current {
            bits |= byte
            switch byte {
            case UInt8(ascii: "\""):
                let tail = unsafe read(from: copied)
                offset += 1
                let string: String?
                if var unescaped {
                    unsafe unescaped.append(contentsOf: tail)
                    string = String(validating: unescaped, as: UTF8.self)
                } else if bits < 0x80 {
                    string = unsafe String(decoding: tail, as: UTF8.self)
                } else {
                    string = unsafe String(validating: tail, as: UTF8.self)
                }
                guard let string else { throw failure("the string is not valid UTF-8", at: start) }
                return string
            case UInt8(ascii: "\\"):
                var bytesSoFar = unescaped ?? []
                unescaped = nil  // lets go of the storage, so that it grows in place
                unsafe bytesSoFar.append(contentsOf: read(from: copied))
                bytesSoFar.append(contentsOf: String(try escape()).utf8)
                unescaped = bytesSoFar
                copied = offset
            case 0x00..<0x20: throw failure("a control character stands unescaped in a string")
            case _: offset += 1
            }
        }
        throw failure("the string does not end", at: start)
    }

    private mutating func escape() throws(JSONSyntaxError) -> Unicode.Scalar {
        let start = offset
        offset += 1
        guard let kind = current else { throw unexpected("the rest of an escape") }
        offset += 1
        switch kind {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape(from: start)
        case _: throw failure("unknown escape", at: start)
        }
    }

    /// After `\u`: four hexadecimal digits, and a second escape where they are the first half of a surrogate pair.
    private mutating func unicodeEscape(from start: Int) throws(JSONSyntaxError) -> Unicode.Scalar {
        let first = try hexadecimalDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, take("\\"), take("u") else { throw failure("half a surrogate pair", at: start) }
        let second = try hexadecimalDigits()
        guard (0xDC00..<0xE000).contains(second) else { throw failure("half a surrogate pair", at: start) }
        let combined = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
        guard let scalar = Unicode.Scalar(combined) else { throw failure("no such character", at: start) }
        return scalar
    }

    private mutating func hexadecimalDigits() throws(JSONSyntaxError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw unexpected("a hexadecimal digit")
            }
            value = value << 4 | UInt32(digit)
            offset += 1
        }
        return value
    }

    private mutating func number() throws(JSONSyntaxError) -> String {
        let start = offset
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        return unsafe String(decoding: read(from: start), as: UTF8.self)
    }

    private mutating func digits() throws(JSONSyntaxError) {
        let start = offset
        while let byte = current, byte.isDigit { offset += 1 }
        guard offset > start else { throw unexpected("a digit") }
    }

    private mutating func literal(_ word: String, _ value: JSON) throws(JSONSyntaxError) -> JSON {
        for byte in word.utf8 {
            guard current == byte else { throw unexpected(word) }
            offset += 1
        }
        return value
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: scalar) else { return false }
        offset += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
