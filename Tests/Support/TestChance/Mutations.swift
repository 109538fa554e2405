/// Makes faulty inputs of valid ones: the same inputs for the same seed.
public struct Mutations: Sendable {
    /// Fragments on which parsers fail most often: extreme numerals, truncated escapes, and bytes that are not UTF-8.
    private static let pieces: [[UInt8]] =
        [
            "0", "-0", "-1", "+1", "1e999", "-1e999", "1e-999", "90.1", "1638.5", "5000", "2147483647", "2147483648",
            "4294967296",
            "9223372036854775807", "9223372036854775808", "-9223372036854775808", "9223372036854775806", "NaN", "Infinity",
            "null",
            "true", "\"\"", "[]", "{}", "[[[[", "\\u0000", "\\ud800", "\\", "\"", "-", ":", ";", ",", "=", "&", "%", "%00", "[",
            "]", "][",
            "/", "*", "W/", "..", " ", "\t", "\n", "\r\n", "\0", "\u{FFFD}", "0000-01-01T00:00:00Z", "9999-12-31T23:59:60Z",
            "10000-01-01T00:00:00Z", "ffffffffffffffff", "é", "e\u{301}", "😀",
        ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0x80]]

    private var generator: SeededGenerator

    public init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// One of the inputs with one to four mutations.
    public mutating func next(of inputs: [[UInt8]]) -> [UInt8] {
        var bytes = inputs.randomElement(using: &generator) ?? []
        for _ in 0..<Int.random(in: 1...4, using: &generator) { change(&bytes) }
        return bytes
    }

    public mutating func next(of texts: [String]) -> [UInt8] { next(of: texts.map { Array($0.utf8) }) }

    /// One of the inputs with mutations, as a text with U+FFFD in place of invalid bytes.
    public mutating func text(of texts: [String]) -> String { String(decoding: next(of: texts), as: UTF8.self) }

    public mutating func number<Number: FixedWidthInteger>(_: Number.Type) -> Number {
        let near = Number(truncatingIfNeeded: Int.random(in: -2...2, using: &generator))
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return near
        case 1: return .max - near.magnitudeAsSelf
        case 2: return .min + near.magnitudeAsSelf
        case _: return Number.random(in: .min ... .max, using: &generator)
        }
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        let range = range(in: bytes)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: if !range.isEmpty { bytes[range.lowerBound] ^= 1 << UInt8.random(in: 0..<8, using: &generator) }
        case 1: bytes.removeSubrange(range)
        case 2: bytes.insert(contentsOf: bytes[range], at: range.lowerBound)
        case 3: bytes.removeLast(bytes.count - range.upperBound)
        case 4: bytes.insert(UInt8.random(in: .min ... .max, using: &generator), at: range.lowerBound)
        case 5: replaceNumeral(in: &bytes)
        case 6: bytes.replaceSubrange(range, with: piece())
        case _: bytes.insert(contentsOf: piece(), at: range.lowerBound)
        }
    }

    private mutating func piece() -> [UInt8] { Self.pieces.randomElement(using: &generator) ?? [] }

    /// Mostly short lengths.
    private mutating func range(in bytes: [UInt8]) -> Range<Int> {
        let start = Int.random(in: 0...bytes.count, using: &generator)
        let length = generator.happens(inPercent: 80) ? 4 : bytes.count
        return start..<min(bytes.count, start + Int.random(in: 0...length, using: &generator))
    }

    private mutating func replaceNumeral(in bytes: inout [UInt8]) {
        let starts = bytes.indices.filter { bytes[$0].isDigit && ($0 == 0 || !bytes[$0 - 1].isDigit) }
        guard let start = starts.randomElement(using: &generator) else { return }
        let end = bytes[start...].firstIndex { !$0.isDigit } ?? bytes.endIndex
        bytes.replaceSubrange(start..<end, with: piece())
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

extension FixedWidthInteger {
    fileprivate var magnitudeAsSelf: Self { Self(truncatingIfNeeded: magnitude) }
}
