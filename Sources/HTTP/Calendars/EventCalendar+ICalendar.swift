internal import Encoding
internal import Events
internal import Foundation
internal import HTTPServer

extension EventCalendar {
    /// The calendar in the format of RFC 5545. All times are in UTC, so no reader needs to know a time zone.
    /// - Parameters:
    ///   - name: of a feed, which a calendar program asks for again each hour; `nil` for events to be imported once
    ///   - origin: of the events' pages; `nil` if they have none
    ///   - source: path and query of the feed at that origin; `nil` for a secret one
    func iCalendar(name: String?, origin: Origin?, source: String? = nil) -> [UInt8] {
        var writer = CalendarWriter()
        writer.line("BEGIN", "VCALENDAR")
        writer.line("VERSION", "2.0")
        writer.line("PRODID", "-//Humon//Humon//EN")
        if let name {
            // The first is of RFC 7986. Programs that are older read the second.
            writer.text("NAME", name)
            writer.text("X-WR-CALNAME", name)
            writer.line("REFRESH-INTERVAL;VALUE=DURATION", "PT1H")
            writer.line("X-PUBLISHED-TTL", "PT1H")
            if let origin, let source, source.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
                writer.uri("SOURCE;VALUE=URI", "\(origin)\(source)")
            }
        }
        for event in events { writer.write(event, uid: uid(of: event.id).uuidString.lowercased(), origin) }
        if events.isEmpty { writer.writeUTC() }
        writer.line("END", "VCALENDAR")
        return writer.bytes
    }
}

extension CalendarWriter {
    fileprivate mutating func write(_ event: Event, uid: String, _ origin: Origin?) {
        let details = event.details
        let (revised, start, end) = (event.revisedAt.iCalendar, details.startedAt.iCalendar, details.place.endsAt.iCalendar)
        line("BEGIN", "VEVENT")
        line("UID", uid)
        line("DTSTAMP", revised)
        line("LAST-MODIFIED", revised)
        line("SEQUENCE", "\(event.version - 1)")
        line("DTSTART", start)
        // Programs give an event without an end a length of their own. An end must be later. Source: RFC 5545, section 3.8.2.2.
        if end != start { line("DTEND", end) }
        text("SUMMARY", event.isCancelled ? "Cancelled: \(details.name)" : details.name)
        if event.isCancelled { line("STATUS", "CANCELLED") }
        if let address = details.address { text("LOCATION", address) }
        line("GEO", "\(details.coordinates.lat.text(decimals: 6));\(details.coordinates.lon.text(decimals: 6))")
        if let category = details.texts[.category] { text("CATEGORIES", category) }
        if let origin { uri("URL", "\(origin)/events/\(event.id.rawValue)") }
        let words = [details.texts[.description], details.texts[.link]].compactMap(\.self)
        if !words.isEmpty { text("DESCRIPTION", words.joined(separator: "\n\n")) }
        line("END", "VEVENT")
    }

    /// A calendar has at least one component. Source: RFC 5545, section 3.6.
    fileprivate mutating func writeUTC() {
        for (name, value) in [
            ("BEGIN", "VTIMEZONE"), ("TZID", "UTC"), ("BEGIN", "STANDARD"), ("DTSTART", "19700101T000000"),
            ("TZOFFSETFROM", "+0000"), ("TZOFFSETTO", "+0000"), ("END", "STANDARD"), ("END", "VTIMEZONE"),
        ] {
            line(name, value)
        }
    }
}

extension Timestamp {
    /// To the second, as in `20300915T001000Z`.
    fileprivate var iCalendar: String {
        String(decoding: description.utf8.prefix(19).filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ":") }, as: UTF8.self)
            + "Z"
    }
}
