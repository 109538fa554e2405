internal import Foundation

extension Collection<UInt8> {
    /// Base 64 with padding (RFC 4648, section 4).
    var base64: String { Data(self).base64EncodedString() }
}

extension [UInt8] {
    /// The bytes of a text in base 64. `nil` if the bytes would be written in another way: each value has one text.
    init?(base64 text: some StringProtocol) {
        guard let data = Data(base64Encoded: String(text)), data.base64EncodedString().utf8.elementsEqual(text.utf8) else {
            return nil
        }
        self = Array(data)
    }
}

extension Int64 {
    /// A number without a sign and without leading zeros, as checkpoints, proofs and paths write it.
    init?(plainDigits text: some StringProtocol) {
        let digits = text.utf8
        guard (1...18).contains(digits.count), digits.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            digits.first != UInt8(ascii: "0") || digits.count == 1
        else { return nil }
        self.init(text)
    }
}
