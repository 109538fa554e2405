import Testing

@testable import Encoding

@Suite struct `Escaping a client's text` {
    @Test func `finds a sign that marks beside it join to a larger character`() {
        for text in ["\"", "\u{600}\"", "\"\u{301}", "e\u{301}\"\u{200D}x"] {
            let escaped = text.escaping { $0 == UInt8(ascii: "\"") ? "''" : nil }
            #expect(escaped.utf8.elementsEqual(text.utf8.flatMap { $0 == 0x22 ? Array("''".utf8) : [$0] }))
        }
        let plain = "é日本"
        #expect(plain.escaping { $0 == UInt8(ascii: "\"") ? "''" : nil } == plain)
    }
}

@Suite struct `A decimal number` {
    @Test(arguments: [
        (-33.86, 5, "-33.86000"), (0.0000001, 5, "0.00000"), (-0.0000001, 5, "0.00000"), (179.999_999_6, 6, "180.000000"),
        (1e-300, 6, "0.000000"), (-180, 5, "-180.00000"),
    ])
    func `has so many decimals, and no exponent`(number: Double, decimals: Int, text: String) {
        #expect(number.text(decimals: decimals) == text)
    }
}
