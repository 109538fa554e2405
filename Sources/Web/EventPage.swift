internal import Encoding
internal import Events
internal import Foundation
internal import HTTPServer
internal import Users

/// The page of one event, complete without a script.
///
/// A script adds what only a browser knows: the times in the visitor's zone, and a way to share the address.
struct EventPage {
    private let event: Event
    private let details: EventDetails
    private let texts: PageTexts
    private let origin: Origin?
    /// The zone of the place; UTC if the event has none, or one that this system does not know.
    private let zone: TimeZone
    private let zoneName: String
    /// The end of the event; `nil` if nobody knows it. Old clients send ends before the start.
    private let end: Timestamp?
    /// The time of the event in words.
    private let span: String

    /// - Parameter origin: of the page's address; `nil` if it is not known
    init(_ event: Event, _ texts: PageTexts, origin: Origin?) {
        (self.event, self.texts, self.origin) = (event, texts, origin)
        // For people and for machines alike.
        var details = event.details
        (details.name, details.address) = (details.name.withoutDisruptions, details.address?.withoutDisruptions)
        details.texts = details.texts.mapValues(\.withoutDisruptions)
        self.details = details
        let known = details.texts[.timeZone].flatMap { name in TimeZone(identifier: name).map { ($0, name) } }
        (zone, zoneName) = known ?? (.gmt, "UTC")
        end = details.endedAt.flatMap { $0 < details.startedAt ? nil : $0 }
        span = texts.span(from: details.startedAt.date, to: end?.date, in: zone)
    }

    private var path: String { "/events/\(event.id.rawValue)" }
    private var address: String? { origin.map { "\($0)\(path)" } }

    var title: String {
        event.isCancelled ? texts["details.cancelled", ["name": details.name]] : details.name
    }

    /// When and where, in a line.
    private var summary: String { ([span] + (details.address.map { [$0] } ?? [])).joined(separator: " · ") }

    /// What the head has beside the title.
    var head: HTML {
        let ownAddress: HTML =
            address.map { address in
                """
                <link rel="canonical" href="\(address)">
                <meta property="og:url" content="\(address)">

                """
            } ?? ""
        let robots: HTML = event.isCancelled ? "<meta name=\"robots\" content=\"noindex\">\n" : ""
        return """
            \(robots)\(ownAddress)<meta name="description" content="\(summary)">
            <meta property="og:type" content="website">
            <meta property="og:site_name" content="Humon">
            <meta property="og:title" content="\(title)">
            <meta property="og:description" content="\(summary)">
            <script type="application/ld+json">\(data: .object(data))</script>
            """
    }

    var body: HTML {
        let note: HTML = event.isCancelled ? "<p class=\"notice\">\(texts["details.cancelled.note"])</p>" : ""
        let onMap = "/#map=15/\(coordinates.joined(separator: "/"))" + (event.isCancelled ? "" : "&event=\(event.id.rawValue)")
        return """
            <article data-start="\(details.startedAt.description)" data-end="\(end?.description ?? "")" data-zone="\(zoneName)">
            <h1 dir="auto">\(details.name)</h1>
            \(note)
            <dl>
            \(rows.joined())
            </dl>
            <p class="buttons">
            <a class="primary" href="/v1\(path).ics" download>\(texts["event.calendar"])</a>
            <a href="\(onMap)">\(texts["event.map"])</a>
            <button type="button" id="share" hidden>\(texts["event.share"])</button>
            </p>
            </article>
            """
    }

    /// The event as an item of a list.
    var item: HTML {
        """
        <li><a href="\(path)?lang=\(texts.language)" target="_blank" rel="noopener"><strong dir="auto">\(details.name)</strong> \
        <small>\(span)</small> <small dir="auto">\(details.address ?? "")</small></a></li>

        """
    }

    private var rows: [HTML] {
        let point = coordinates.joined(separator: ",")
        let address: HTML = details.address.map { "<span dir=\"auto\">\($0)</span> " } ?? ""
        var rows = [
            row(
                "details.when",
                """
                <time datetime="\(stamp(details.startedAt))">\(span)</time> \
                <small>\(texts["event.zone", ["zone": zoneName]])</small>
                """),
            row("details.where", "\(address)<small><a href=\"geo:\(point)\">\(coordinates.joined(separator: ", "))</a></small>"),
        ]
        if let category = details.texts[.category] { rows.append(row("form.category.label", "\(texts.kind(category))")) }
        if let description = details.texts[.description] {
            rows.append(row("details.about", "<span class=\"description\" dir=\"auto\">\(description)</span>"))
        }
        // It is http or https, whatever else an imported log has.
        if let link = details.texts[.link] {
            rows.append(row("form.link.label", "<a href=\"\(link)\" rel=\"nofollow ugc noopener noreferrer\">\(link)</a>"))
        }
        return rows
    }

    private func row(_ name: String, _ value: HTML) -> HTML { "<dt>\(texts[name])</dt><dd>\(value)</dd>\n" }

    /// The event as schema.org describes events, in the order of <https://schema.org/Event>.
    private var data: JSONObject {
        var place: JSONObject = [
            "@type": "Place",
            "geo": [
                "@type": "GeoCoordinates", "latitude": JSON(details.coordinates.lat), "longitude": JSON(details.coordinates.lon),
            ],
        ]
        if let address = details.address { place["address"] = .string(address) }
        let optional: [(String, String?)] = [
            ("endDate", end.map(stamp)), ("description", details.texts[.description]), ("url", address),
        ]
        let members: [(String, JSON)] =
            [
                ("@context", "https://schema.org"), ("@type", "Event"), ("name", .string(details.name)),
                ("startDate", .string(stamp(details.startedAt))),
                ("eventStatus", .string("https://schema.org/Event\(event.isCancelled ? "Cancelled" : "Scheduled")")),
                ("eventAttendanceMode", "https://schema.org/OfflineEventAttendanceMode"), ("location", .object(place)),
            ] + optional.compactMap { name, value in value.map { (name, JSON.string($0)) } }
        return JSONObject(members: members.map { JSONObject.Member(name: $0.0, value: $0.1) })
    }
}

// MARK: Times and places

extension EventPage {
    /// A time in RFC 3339 with the offset of the place: `2026-10-24T12:45:00+02:00`.
    private func stamp(_ time: Timestamp) -> String {
        let minutes = zone.secondsFromGMT(for: time.date) / 60
        let local = Timestamp(milliseconds: time.milliseconds + Int64(minutes) * 60_000)
        // A year of four digits is all that the format has.
        guard minutes != 0, (Timestamp.earliest...Timestamp.latest).contains(local) else {
            return "\(time.description.prefix(19))Z"
        }
        let digits = [minutes.magnitude / 60, minutes.magnitude % 60].map { String(100 + $0).suffix(2) }
        return "\(local.description.prefix(19))\(minutes < 0 ? "-" : "+")\(digits.joined(separator: ":"))"
    }

    /// Latitude and longitude in degrees, to a metre.
    private var coordinates: [String] {
        [details.coordinates.lat, details.coordinates.lon].map { $0.text(decimals: 5) }
    }
}

extension Timestamp {
    fileprivate var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}

extension Event {
    /// An event with all that a page can have.
    static let sample: Event = {
        var details = EventDetails(
            name: "Name", coordinates: Coordinates(lat: 52.5, lon: 13.4), startedAt: Timestamp(milliseconds: 1_800_000_000_000))
        details.address = "Address"
        details.endedAt = Timestamp(milliseconds: 1_800_010_000_000)
        details.texts = [
            .category: "music", .timeZone: "Europe/Berlin", .description: "Description", .link: "https://example.org/",
        ]
        return Event(id: EventID(rawValue: 1), owner: UserID(rawValue: 1), version: 1, details: details)
    }()
}
