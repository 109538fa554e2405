import Encoding
import Testing

@Suite struct `Hexadecimal digits` {
    @Test func `a byte has two lower-case digits`() {
        #expect(([0x00, 0x09, 0x0A, 0x10, 0x9F, 0xA0, 0xFF] as [UInt8]).hexadecimal == "00090a109fa0ff")
        #expect([UInt8]().hexadecimal == "")
    }

    @Test func `a text of that many lower-case digits is hexadecimal, and no other`() {
        for text in ["0123456789abcdef", "ffffffffffffffff"] {
            #expect([15, 16, 17].map { text.isHexadecimal(digits: $0) } == [false, true, false])
        }
        for text in [
            "0123456789ABCDEF", "0123456789abcdeg", "0123456789abcde/", "0123456789abcde:", "0123456789abcde`", "０１２３４",
        ] { #expect(!text.isHexadecimal(digits: text.utf8.count), "\(text)") }
    }
}
