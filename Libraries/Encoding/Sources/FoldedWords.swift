internal import Foundation

/// The words of texts as searches compare them: without case, accents and punctuation, so that `Straße` and `STRASSE` are one word.
///
/// 1. The text is decomposed (NFKD: ﬁ becomes fi). Marks of Latin, Greek, Cyrillic, Hebrew and Arabic letters go, and so do characters
///    of format, variation selectors and skin tones. か and its mark become が again, because that is another letter.
/// 2. Upper case, then lower case. Letters with a stroke and the like, which do not decompose, become what is typed for them.
/// 3. A word is a run of letters, marks and digits. Scripts without spaces (Han, kana, Thai, Lao, Khmer, Burmese) have a word for each
///    letter with its marks, and an emoji is a word. Hangul stays decomposed, so that 하 begins 한.
///
/// The folding of folded words is the same again. The caller bounds the texts, because Foundation sorts the marks of one letter in a time
/// that grows with the square of their number: 0.1 ms for 255.
public struct FoldedWords: Sendable, Hashable {
    public enum QueryError: Error { case tooLong, noWords, tooManyWords }

    /// The most Unicode scalars and the most words of a text to search for.
    public static let (maximumScalars, maximumWords) = (100, 8)

    /// UTF-8, each word behind a space: ` chess in the park`. Empty without words.
    public private(set) var utf8: [UInt8] = []

    /// The words of all texts, in their order.
    public init(_ texts: String...) {
        for text in texts {
            var bytes = text.utf8Span
            if bytes.checkForASCII() { append(ascii: bytes.span) } else { append(text) }
        }
    }

    /// The words of a text to search for.
    /// - Throws: ``QueryError`` beyond the limits, and without any word
    public init(query: String) throws(QueryError) {
        if query.unicodeScalars.count > Self.maximumScalars { throw .tooLong }
        self.init(query)
        let words = utf8.count { $0 == .space }
        if words == 0 { throw .noWords }
        if words > Self.maximumWords { throw .tooManyWords }
    }

    private mutating func append(ascii text: Span<UInt8>) {
        utf8.append(addingCapacity: text.count + 1) { words in
            var isWithin = false
            for index in text.indices {
                let byte = text[index]
                if !byte.isSeparator, !isWithin { words.append(.space) }
                isWithin = !byte.isSeparator
                // Digits have the bit of lower case, too.
                if isWithin { words.append(byte | 0x20) }
            }
        }
    }

    private mutating func append(_ text: String) {
        var (before, last) = (Kind.separator, Unicode.Scalar(" "))
        for scalar in text.decomposedStringWithCompatibilityMapping.unicodeScalars {
            guard let kind = Kind(scalar) else { continue }
            if kind == .mark, let whole = Self.voicedKana[[last, scalar]] {
                utf8.removeLast(last.utf8.count)
                utf8 += whole.utf8
                last = whole
                continue
            }
            if kind != .separator {
                let isWithin = before != .separator && (kind == .mark || kind == before && kind != .word)
                if !isWithin { utf8.append(.space) }
                append(scalar)
            }
            switch kind {
            case .mark: before = before == .separator ? .letter : before
            case .halfFlag: before = before == .halfFlag ? .word : .halfFlag
            case .separator, .letter, .word: before = kind
            }
            last = scalar
        }
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        if scalar.isASCII { return utf8.append(UInt8(scalar.value) | 0x20) }
        if !scalar.properties.isCased { return utf8 += scalar.utf8 }
        for upper in scalar.properties.uppercaseMapping.unicodeScalars {
            switch upper {
            case "Ø": utf8 += "o".utf8
            case "Đ", "Ð": utf8 += "d".utf8
            case "Ł": utf8 += "l".utf8
            case "Ħ": utf8 += "h".utf8
            case "Æ": utf8 += "ae".utf8
            case "Œ": utf8 += "oe".utf8
            case "Þ": utf8 += "th".utf8
            // The upper case of ß is SS.
            case "ẞ": utf8 += "ss".utf8
            case _: utf8 += upper.properties.lowercaseMapping.utf8
            }
        }
    }

    /// Kana by their letter and their mark.
    private static let voicedKana = Dictionary(
        uniqueKeysWithValues: (0x3041...0x30FF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init).compactMap { whole in
            let parts = Array(String(whole).decomposedStringWithCanonicalMapping.unicodeScalars)
            return parts.count == 2 ? (parts, whole) : nil
        })
}

/// What a character does with words.
private enum Kind {
    case separator
    /// Goes on with a word of letters and digits.
    case letter
    /// Goes on with any word.
    case mark
    /// Is a word.
    case word
    /// Two are a word.
    case halfFlag

    /// `nil` for a character that a search does without.
    init?(_ scalar: Unicode.Scalar) {
        if scalar.isASCII {
            self = UInt8(scalar.value).isSeparator ? .separator : .letter
            return
        }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber:
            self = scalar.isOfScriptWithoutSpaces ? .word : .letter
        case .decimalNumber, .otherNumber: self = .letter
        case .nonspacingMark, .spacingMark, .enclosingMark:
            if scalar.isMarkOfAlphabet { return nil }
            self = .mark
        case .format: return nil
        case _:
            switch scalar.value {
            case 0x1F3FB...0x1F3FF: return nil
            case 0x1F1E6...0x1F1FF: self = .halfFlag
            // Not ©, ↔ and the like, which are emoji, too, but stand in texts as signs.
            case ..<0x2600: self = scalar.properties.isEmojiPresentation ? .word : .separator
            case _: self = scalar.properties.isEmoji ? .word : .separator
            }
        }
    }
}

// Unicode 15 has the blocks.
extension Unicode.Scalar {
    /// Of a mark: whether it belongs to Latin, Greek, Cyrillic, Hebrew or Arabic, or only chooses the form of a sign.
    fileprivate var isMarkOfAlphabet: Bool {
        switch value {
        case ..<0x0700, 0x0890...0x08FF, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0x2DE0...0x2DFF, 0xA66F...0xA69F,
            0xFB1E, 0xFE00...0xFE2F, 0x10EC0...0x10EFF, 0xE0100...0xE01EF:
            true
        case _: false
        }
    }

    /// Thai and Lao, Burmese, Khmer, kana and Han.
    fileprivate var isOfScriptWithoutSpaces: Bool {
        switch value {
        case ..<0x0E00: false
        case ..<0x0F00, 0x1000...0x109F, 0x1780...0x17FF, 0x2E80...0x30FF, 0x31F0...0x31FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
            0xA9E0...0xA9FF, 0xAA60...0xAA7F, 0x1AFF0...0x1B16F, 0x20000...0x3FFFF:
            true
        case _: false
        }
    }
}

extension UInt8 {
    fileprivate static let space = UInt8(ascii: " ")

    /// Whether the byte is in ASCII, but neither a letter nor a digit.
    fileprivate var isSeparator: Bool { self < 0x80 && !isLetterOrDigit }
}
