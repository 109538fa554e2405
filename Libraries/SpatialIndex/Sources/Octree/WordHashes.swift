/// The hashes of the beginnings of words: of the first two, three and four scalars of each. A Chinese sign or an emoji is a whole word
/// (Encoding's `FoldedWords`), so the first scalar counts, too, if it takes three bytes or more.
enum WordHashes {
    /// Number of hashes, a power of two.
    static let count = 2_048

    /// Calls a closure with each hash. Eight bytes at once, because every change hashes the words of a whole leaf.
    /// - Parameter words: UTF-8, each word behind a space
    @inline(__always)
    static func forEach(in words: Column<UInt8>, _ body: (Int) -> Void) {
        var place = 0
        while place < words.count {
            place += 1
            let bytes = words.eight(at: place)
            var spaces = spaces(in: bytes)
            // Number of ASCII characters before the first other byte.
            let letters = (spaces | bytes & highBits).trailingZeroBitCount / 8
            if letters < 4, spaces &>> UInt64(8 * letters + 7) & 1 == 0 {
                forEachHash(ofWordAt: place, in: words, body)
            } else {
                if letters > 1 { body(hash(bytes & 0xFFFF)) }
                if letters > 2 { body(hash(bytes & 0xFF_FFFF)) }
                if letters > 3 { body(hash(bytes & 0xFFFF_FFFF)) }
            }
            while spaces == 0 {
                place += 8
                spaces = self.spaces(in: words.eight(at: place))
            }
            place += spaces.trailingZeroBitCount / 8
        }
    }

    private static func forEachHash(ofWordAt start: Int, in words: Column<UInt8>, _ body: (Int) -> Void) {
        let shortest = words[start] < 0xE0 ? 2 : 1
        var (place, scalars, bytes) = (start, 0, UInt64(0))
        while place < words.count, words[place] != UInt8(ascii: " "), scalars <= 4 {
            if words[place] & 0xC0 != 0x80 {
                if shortest <= scalars { body(hash(bytes)) }
                scalars += 1
            }
            bytes ^= UInt64(words[place]) &<< UInt64(8 * (place - start))
            place += 1
        }
        if shortest <= scalars, scalars <= 4 { body(hash(bytes)) }
    }

    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// The highest bit of the first space, and perhaps of bytes behind it. Source: Anderson, *Bit Twiddling Hacks*, zero in a word.
    @inline(__always)
    private static func spaces(in bytes: UInt64) -> UInt64 {
        let other = bytes ^ 0x2020_2020_2020_2020
        return (other &- 0x0101_0101_0101_0101) & ~other & highBits
    }

    /// Source: Knuth, *The Art of Computer Programming*, volume 3, 6.4: multiplicative hashing. The upper bits depend on all bytes.
    private static func hash(_ bytes: UInt64) -> Int {
        Int((bytes &* 0x9E37_79B9_7F4A_7C15) &>> UInt64(UInt64.bitWidth - count.trailingZeroBitCount))
    }
}
