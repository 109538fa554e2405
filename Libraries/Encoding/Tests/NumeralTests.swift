import TestChance
import Testing

@testable import Encoding

@Suite struct `Reading a decimal numeral` {
    @Test(arguments: [
        ("0", 0), ("37.76", 37.76), ("-122.43", -122.43), ("+1.5", 1.5), ("1e3", 1_000), ("1E-3", 0.001), ("1e+2", 100),
        ("007", 7),
        ("37.760000000000005", 37.760000000000005), ("  37.7 ", 37.7), (" 37.7", 37.7), ("37.7 ", 37.7),
    ])
    func `a decimal numeral is read as this number`(text: String, expected: Double) {
        #expect(Double(parsing: text) == expected)
    }

    @Test func `a numeral of any length is read as the nearest number`() {
        var generator = SeededGenerator(seed: 15)
        for _ in 0..<20_000 {
            var digits = (0..<Int.random(in: 1...18, using: &generator)).map { _ in "\(Int.random(in: 0...9, using: &generator))"
            }
            let point = Int.random(in: 0..<digits.count, using: &generator)
            if point > 0 { digits.insert(".", at: point) }
            let text = (Bool.random(using: &generator) ? "-" : "") + digits.joined()
            #expect(Double(parsing: text)?.bitPattern == Double(text)?.bitPattern, "\(text)")
        }
    }

    @Test(arguments: ["-0.0", "-0", "-0.00e0"])
    func `the sign of zero is kept`(text: String) {
        #expect(Double(parsing: text)?.sign == .minus)
    }

    @Test func `a numeral beyond the largest number is read as infinity`() {
        #expect(Double(parsing: "1e400") == .infinity)
        #expect(Double(parsing: "-1e400") == -.infinity)
    }

    @Test(arguments: [
        "", " ", "-", "+", ".", "e", "1e", "e5", "1.2.3", "1,5", "1 000", "--1", "+-1", "1-", "nan", "NaN", "inf", "-inf",
        "infinity", "0x10",
        "0x1p3", "1_000", "１", "١", "1\0", "\t1", "1\n", "\u{A0}1", "1°",
    ])
    func `a text that is not a decimal numeral is refused`(text: String) {
        #expect(Double(parsing: text) == nil)
    }
}

@Suite struct `Reading a whole numeral` {
    @Test(
        arguments: [
            ("0", 0), ("12", 12), ("-12", -12), ("+12", 12), ("007", 7), (" 12 ", 12), (" 12", 12), ("12  ", 12), ("-0", 0),
            ("9223372036854775807", .max), ("-9223372036854775808", .min),
        ] as [(String, Int64)])
    func `a whole numeral is read as this number`(text: String, expected: Int64) {
        #expect(Int64(parsing: text) == expected)
    }

    @Test(arguments: [
        "", " ", "-", "+", "1.0", "1e3", "0x10", "1_000", "1 000", "--1", "twelve", "１２", "١٢", "12\0", "\t12", "12\n",
        "9223372036854775808", "-9223372036854775809",
    ])
    func `a text that is not a whole numeral is refused`(text: String) {
        #expect(Int64(parsing: text) == nil)
    }
}
