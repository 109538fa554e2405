import Encoding
import TestChance
import Testing

@Suite struct `Folding words` {
    private static func folded(_ text: String) -> String { String(decoding: FoldedWords(text).utf8, as: UTF8.self) }

    @Test(arguments: [
        ("", ""), (" - ", ""), ("Chess in the Park!", " chess in the park"), ("don't rock'n'roll", " don t rock n roll"),
        ("R2-D2 C++", " r2 d2 c"), ("tab\there\0null", " tab here null"),
        // Marks, composed and not, and what is typed for letters that do not decompose.
        ("Straße STRASSE STRAẞE", " strasse strasse strasse"), ("Cafe\u{301} Café", " cafe cafe"), ("\u{301}a \u{301}", " a"),
        ("Øl i Ålesund, Æbler, Łódź, þing, Ðe, ħal, ŒUVRE", " ol i alesund aebler lodz thing de hal oeuvre"),
        ("İstanbul ISPARTA Iğdır ısı", " istanbul isparta igdir isi"),
        ("Đêm nhạc Việt Nam, Phố Huế", " dem nhac viet nam pho hue"),
        ("ΟΔΥΣΣΕΎΣ Οδυσσεύς", " οδυσσευσ οδυσσευσ"), ("Йога ЁЖ", " иога еж"),
        ("שָׁלוֹם", " שלום"), ("مُحَمَّد", " محمد"), ("می\u{200C}خواهم", " میخواهم"), ("so\u{AD}ft", " soft"),
        // Forms that only look different.
        ("Ｆｕｌｌ １２", " full 12"), ("ﬁne ½ x² Ⅷ", " fine 1 2 x2 viii"), ("ⓐ ㍿", " a 株 式 会 社"),
        // Digits keep their script.
        ("٣ ७ ๑๒", " ٣ ७ ๑๒"),
        // Marks of other scripts belong to the word.
        ("हिन्दी கல்", " हिन्दी கல்"),
        // Scripts without spaces.
        ("東京タワー2階", " 東 京 タ ワ ー 2 階"), ("がパｶﾞか\u{3099}ば\u{309A}", " が パ ガ が ば\u{309A}"), ("กินข้าว", " กิ น ข้ า ว"),
        ("ລາວ", " ລ າ ວ"), ("ខ្មែរ", " ខ្ មែ រ"), ("မြန်", " မြ န်"), ("Tokyo東京", " tokyo 東 京"),
        // Emoji.
        ("👩🏽‍🚀❤️x", " 👩 🚀 ❤ x"), ("🇩🇪🇫🇷 🇩", " 🇩🇪 🇫🇷 🇩"), ("1️⃣ Red™ Bull®", " 1 redtm bull"), ("👋🏿👋", " 👋 👋"),
    ])
    func `a text is folded to these words`(text: String, words: String) {
        // Swift takes texts with other scalars for equal.
        #expect(Array(Self.folded(text).unicodeScalars) == Array(words.unicodeScalars))
    }

    @Test func `a syllable of Hangul begins with the letters that are typed first`() {
        #expect(Self.folded("한국").unicodeScalars.starts(with: Self.folded("ㅎ").unicodeScalars))
        #expect(Self.folded("한국").unicodeScalars.starts(with: Self.folded("하").unicodeScalars))
    }

    /// Han signs and syllables of Hangul are many and alike.
    @Test func `every character of small scripts is folded to words that stay as they are, in UTF-8 and behind spaces`() throws {
        let blocks: [ClosedRange<UInt32>] = [0...0x3400, 0xA000...0xAC00, 0xF900...0x11FFF, 0x1D000...0x1FFFF, 0xE0000...0xE0200]
        for value in blocks.joined() {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let folded = FoldedWords("x\(scalar)y \(scalar)").utf8
            let text = try #require(String(validating: folded, as: UTF8.self))
            try #require(FoldedWords(text).utf8 == folded, "U+\(String(value, radix: 16))")
            try #require(folded.first == UInt8(ascii: " ") && folded.last != UInt8(ascii: " "))
            try #require(!text.contains("  ") && !folded.contains(UInt8(ascii: "=")))
        }
    }

    @Test func `texts of any characters are folded as upper and as lower case, and part by part`() {
        var generator = SeededGenerator(seed: 31)
        let pieces = [
            "a", "Z", "ß", "é", "e", "\u{301}", "\u{323}", "Σ", "ς", "Й", "ğ", "ﬁ", "東", "か", "\u{3099}", "ก", "ิ", "한", "٣", "7",
            "👩", "\u{1F3FD}", "\u{200D}", "🇩", "ø", "'", ".", "-",
        ]
        for _ in 0..<2_000 {
            let parts = (0..<3).map { _ in
                (0..<Int.random(in: 0...6, using: &generator)).reduce("") { text, _ in
                    text + pieces[Int.random(in: 0..<pieces.count, using: &generator)]
                }
            }
            let text = parts.joined(separator: " ")
            #expect(FoldedWords(text).utf8 == parts.flatMap { FoldedWords($0).utf8 }, "\(text)")
            #expect(FoldedWords(parts[0], parts[1], parts[2]) == FoldedWords(text))
            #expect(FoldedWords(text.uppercased()) == FoldedWords(text.lowercased()), "\(text)")
        }
    }

    @Test func `a text to search for has one to eight words and at most a hundred scalars`() throws {
        #expect(try FoldedWords(query: "Che park").utf8 == Array(" che park".utf8))
        #expect(try FoldedWords(query: "a b c d e f g h").utf8.count == 16)
        #expect(throws: FoldedWords.QueryError.tooManyWords) { try FoldedWords(query: "a b c d e f g h i") }
        #expect(throws: FoldedWords.QueryError.tooManyWords) { try FoldedWords(query: "東京国際映画祭二〇") }
        #expect(throws: FoldedWords.QueryError.noWords) { try FoldedWords(query: " … ") }
        #expect(throws: FoldedWords.QueryError.noWords) { try FoldedWords(query: "") }
        #expect(try FoldedWords(query: String(repeating: "é", count: 100)).utf8.count == 101)
        #expect(throws: FoldedWords.QueryError.tooLong) { try FoldedWords(query: String(repeating: " ", count: 101)) }
    }

    @Test func `a letter with 255 marks, the most in a text of an event, takes no long time`() {
        let time = processorTime { _ = FoldedWords("a" + String(repeating: "\u{323}\u{301}", count: 127)) }
        #expect(time < .milliseconds(20))
    }
}
