extension String {
    /// The text with each control character, and each character that changes the direction of writing, as an escape of JSON.
    ///
    /// A terminal obeys no part of the result, and the result is one line. In a JSON text the escapes change no value.
    public var escapingControlCharacters: String {
        guard unicodeScalars.contains(where: \.needsEscape) else { return self }
        var result = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            guard scalar.needsEscape else { result.append(scalar); continue }
            switch scalar {
            case "\n": result.append(contentsOf: #"\n"#.unicodeScalars)
            case "\t": result.append(contentsOf: #"\t"#.unicodeScalars)
            case _:
                let digits = String(scalar.value, radix: 16)
                result.append(contentsOf: (#"\u"# + String(repeating: "0", count: 4 - digits.count) + digits).unicodeScalars)
            }
        }
        return String(result)
    }
}

extension String {
    /// The text without ``Swift/Unicode/Scalar/isDisruptive`` characters.
    public var withoutDisruptions: String {
        // Most texts have printable ASCII alone.
        guard !utf8.allSatisfy({ (0x20...0x7E).contains($0) }), unicodeScalars.contains(where: \.isDisruptive) else {
            return self
        }
        return String(String.UnicodeScalarView(unicodeScalars.filter { !$0.isDisruptive }))
    }
}

extension Unicode.Scalar {
    /// A control character but LF and TAB, or a mark that turns around the direction of what follows it: no text for people needs one.
    public var isDisruptive: Bool {
        switch value {
        case 0x09, 0x0A: false
        case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: true
        case _: false
        }
    }

    /// Control characters, and characters that change the direction of writing or begin a line. All have four hexadecimal digits.
    fileprivate var needsEscape: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        case _: false
        }
    }
}
