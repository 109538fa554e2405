import Encoding
import Testing

@Suite struct `Hexadecimal digits` {
    @Test func `a byte has two lower-case digits`() {
        #expect(([0x00, 0x09, 0x0A, 0x10, 0x9F, 0xA0, 0xFF] as [UInt8]).hexadecimal == "00090a109fa0ff")
        #expect([UInt8]().hexadecimal == "")
    }

    @Test(arguments: ["0123456789abcdef", "ffffffffffffffff"])
    func `a text of lower-case digits is hexadecimal`(text: String) {
        #expect(text.isHexadecimal(digits: 16))
        #expect(!text.isHexadecimal(digits: 15))
        #expect(!text.isHexadecimal(digits: 17))
    }

    @Test(arguments: [
        "0123456789ABCDEF", "0123456789abcdeg", "0123456789abcde/", "0123456789abcde:", "0123456789abcde`", "０１２３４",
    ])
    func `another text is not hexadecimal`(text: String) {
        #expect(!text.isHexadecimal(digits: text.utf8.count))
    }
}
