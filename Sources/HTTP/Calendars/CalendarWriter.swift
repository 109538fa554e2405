internal import Encoding

/// Writes iCalendar (RFC 5545): lines that end in CR LF and are at most 75 octets long, one property a line.
struct CalendarWriter: Sendable {
    private(set) var bytes: [UInt8] = []

    /// The longest line, in octets and without its end. Source: RFC 5545, section 3.1.
    private static let lengthLimit = 75

    /// Writes a property whose value is ours: short, and ASCII that needs no escape.
    mutating func line(_ name: String, _ value: String) { bytes.append(contentsOf: "\(name):\(value)\r\n".utf8) }

    /// Writes a property with a URI, of visible ASCII alone.
    mutating func uri(_ name: String, _ value: String) { folded(name, value.unicodeScalars.lazy.map { String($0) }) }

    /// Writes a property with a text from a client. No other function does. Of control characters tabs and line feeds stay, these as `\n`.
    /// Marks that turn what follows around are left out.
    mutating func text(_ name: String, _ value: String) {
        let characters = value.unicodeScalars.lazy.map { scalar in
            switch scalar {
            case "\\", ";", ",": "\\\(scalar)"
            // The last three are line feeds to some readers.
            case "\n", "\u{85}", "\u{2028}", "\u{2029}": "\\n"
            default: scalar.isDisruptive ? "" : String(scalar)
            }
        }
        folded(name, characters)
    }

    /// No fold divides a character or an escape.
    private mutating func folded(_ name: String, _ characters: some Sequence<String>) {
        bytes.append(contentsOf: "\(name):".utf8)
        var length = name.utf8.count + 1
        for character in characters {
            if length + character.utf8.count > Self.lengthLimit {
                bytes.append(contentsOf: "\r\n ".utf8)
                length = 1
            }
            bytes.append(contentsOf: character.utf8)
            length += character.utf8.count
        }
        bytes.append(contentsOf: "\r\n".utf8)
    }
}
