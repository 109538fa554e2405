internal import Encoding
internal import Foundation

/// The texts of the pages in one language, by key. Plurals are left out: scripts alone choose their forms.
struct PageTexts: Sendable {
    /// Such as `de`.
    let language: String
    private let texts: [String: String]

    /// - Parameter file: a table of texts
    init(_ file: PageFile, language: String) {
        self.language = language
        guard case .object(let table)? = try? JSON(utf8: file.bytes) else { preconditionFailure("\(file.name) is a JSON object") }
        texts = table.members.reduce(into: [:]) { texts, member in
            if case .string(let text) = member.value { texts[member.name] = text }
        }
    }

    /// The text with this key; `nil` without one.
    func find(_ key: String) -> String? { texts[key] }

    /// The text with this key; without one the key, which is of more use than no page.
    subscript(key: String) -> String { find(key) ?? key }

    /// - Parameter values: what stands for `{name}` in it
    subscript(key: String, values: KeyValuePairs<String, String>) -> String {
        values.reduce(self[key]) { $0.replacing("{\($1.key)}", with: $1.value) }
    }

    /// The name of a kind of events. A newer node may know one that this one does not.
    func kind(_ category: String) -> String { find("kind.\(category)") ?? category }

    /// As browsers write it: the English of all is British.
    private var locale: Locale { Locale(identifier: language == "en" ? "en_GB" : language) }

    /// A time, or a span if there is a later end: `Saturday, 24 October 2026, 12:45 – 15:15`.
    func span(from start: Date, to end: Date?, in zone: TimeZone) -> String {
        guard let end, end > start else {
            let style = Date.FormatStyle(locale: locale, timeZone: zone).weekday(.wide).day().month(.wide).year()
            // A span has two digits in any case.
            return start.formatted(style.hour(.twoDigits(amPM: .abbreviated)).minute(.twoDigits))
        }
        return (start..<end).formatted(
            Date.IntervalFormatStyle(date: .complete, time: .shortened, locale: locale, timeZone: zone))
    }
}
