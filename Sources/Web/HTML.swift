internal import Encoding

/// Markup. A literal is markup, and a text in it is escaped: nothing else makes markup.
///
/// ```swift
/// let heading: HTML = "<h1>\(event.name)</h1>"
/// ```
struct HTML: Sendable, ExpressibleByStringInterpolation {
    static let mediaType = "text/html; charset=utf-8"

    private(set) var text: String

    init(stringLiteral text: String) { self.text = text }
    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    fileprivate mutating func append(_ other: HTML) { text += other.text }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity + 32 * interpolationCount) }

        mutating func appendLiteral(_ literal: String) { text += literal }
        mutating func appendInterpolation(_ markup: HTML) { text += markup.text }
        mutating func appendInterpolation(_ text: String) { self.text += text.escapedForHTML }
        mutating func appendInterpolation(_ number: Int64) { text += String(number) }

        /// A block of data for machines. In JSON these three signs stand in texts alone.
        mutating func appendInterpolation(data: JSON) {
            text += String(decoding: data.utf8, as: UTF8.self).escaping { byte in
                switch byte {
                case UInt8(ascii: "&"): #"\u0026"#
                case UInt8(ascii: "<"): #"\u003c"#
                case UInt8(ascii: ">"): #"\u003e"#
                case _: nil
                }
            }
        }
    }
}

extension Sequence<HTML> {
    func joined() -> HTML { reduce(into: "") { $0.append($1) } }
}

extension String {
    /// The text as the content of an element or of an attribute in double quotes.
    var escapedForHTML: String {
        withoutDisruptions.escaping { byte in
            switch byte {
            case UInt8(ascii: "&"): "&amp;"
            case UInt8(ascii: "<"): "&lt;"
            case UInt8(ascii: ">"): "&gt;"
            case UInt8(ascii: "\""): "&quot;"
            case _: nil
            }
        }
    }
}
