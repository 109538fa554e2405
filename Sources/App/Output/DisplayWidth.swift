/// The width of text on a terminal, in columns.
///
/// Source: Unicode Standard Annex #11, *East Asian Width* (Unicode 16), and #51, *Unicode Emoji*.
extension StringProtocol {
    /// Complexity: O(n).
    var displayWidth: Int {
        // Most text is ASCII, which never combines: control characters were escaped before.
        if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
        return reduce(0) { $0 + $1.displayWidth }
    }

    /// The text cut to a width, with an ellipsis at its end if a part is missing.
    func cut(toWidth limit: Int) -> String {
        guard displayWidth > limit else { return String(self) }
        var (result, width) = ("", 0)
        for character in self {
            // One column is for the ellipsis.
            guard width + character.displayWidth < limit else { break }
            result.append(character)
            width += character.displayWidth
        }
        return limit > 0 ? result + "…" : ""
    }
}

extension Character {
    /// A terminal shows a grapheme cluster as wide as its widest scalar: combining marks add nothing.
    fileprivate var displayWidth: Int {
        // The variation selector 16 asks for the picture of a character that is also a text character: ☀ and ☀️.
        if unicodeScalars.contains("\u{FE0F}"), unicodeScalars.first?.properties.isEmoji == true { return 2 }
        return unicodeScalars.map(\.displayWidth).max() ?? 0
    }
}

extension Unicode.Scalar {
    fileprivate var displayWidth: Int {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        // The soft hyphen is the only format character that terminals show.
        case .format: return value == 0xAD ? 1 : 0
        default: return properties.isEmojiPresentation || isEastAsianWide ? 2 : 1
        }
    }

    /// The blocks of wide and fullwidth characters, without the emoji, which have a property of their own.
    private var isEastAsianWide: Bool {
        switch value {
        case 0x1100...0x115F, 0x2329...0x232A, 0x2630...0x2637, 0x268A...0x268F, 0x2E80...0x303E, 0x3041...0x3247,
            0x3250...0x4DBF,
            0x4DC0...0x4DFF, 0x4E00...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19,
            0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x18D00...0x18D08, 0x1AFF0...0x1B2FB,
            0x1D300...0x1D356, 0x1D360...0x1D376, 0x1F200...0x1F265, 0x20000...0x2FFFD, 0x30000...0x3FFFD:
            true
        default: false
        }
    }
}
