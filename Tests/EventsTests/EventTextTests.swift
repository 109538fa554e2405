import Encoding
import EventStore
import Postgres
import SpatialIndex
import TestDatabase
import Testing

@testable import Events

extension EventDetails {
    /// A concert with every text.
    static let described = {
        var details = EventDetails.concert
        details.texts = [
            .category: "music", .timeZone: "Australia/Sydney", .description: "Two sets.\nBring a chair 🪑",
            .link: "https://example.org/a?b=1&c[]=%C3%A9#d",
        ]
        return details
    }()
}

/// The pointer, code and sentence of each validation error of a concert with these fields.
private func errors(_ name: EventText, _ text: String) -> [String] {
    var object: JSONObject = [
        "name": "Concert", "lat": .number("-33.5"), "lon": .number("151"), "started_at": "2013-09-16T03:30:00Z",
    ]
    object[name.rawValue] = .string(text)
    do { _ = try EventDetails(.object(object)) } catch {
        guard case .invalid(let errors) = error else { return ["\(error)"] }
        return errors.map { "\($0.pointer) \($0.code.rawValue) \($0.detail)" }
    }
    return []
}

@Suite struct `Reading the texts of an event` {
    @Test func `texts are read as they were sent, CR LF becomes LF, and null or white space is none`() throws {
        func texts(_ fields: JSONObject) throws -> [EventText: String] {
            var object = fields
            object["name"] = "Concert"
            object["started_at"] = "2013-09-16T03:30:00Z"
            for name in ["lat", "lon"] { object[name] = .number("1") }
            return try EventDetails(.object(object)).texts
        }
        let sent = JSONObject(
            members: EventDetails.described.texts.map { .init(name: $0.key.rawValue, value: .string($0.value)) })
        #expect(try texts(sent) == EventDetails.described.texts)
        #expect(try texts(["description": " \ta\r\n\r\nb\n"]) == [.description: " \ta\n\nb\n"])
        for blank in [.null, "", " \n\u{3000}"] as [JSON] {
            #expect(try texts(["category": blank, "time_zone": blank, "description": blank, "link": blank]) == [:])
        }
    }

    @Test func `a description has 4,000 characters of any size and no control character but LF and TAB`() {
        for text in [
            String(repeating: "🎉", count: 4_000), "a\tb\nc", "e" + String(repeating: "\u{301}", count: 3_999), "\u{200F}שלום",
        ] {
            #expect(errors(.description, text) == [])
        }
        let long = ["/description too_long Description is too long (maximum is 4000 characters)"]
        #expect(errors(.description, String(repeating: "é", count: 4_001)) == long)
        // CR LF counts once.
        #expect(errors(.description, String(repeating: "\r\n", count: 2_000) + String(repeating: "a", count: 2_000)) == [])
        let refused = ["/description invalid_characters Description contains a control character"]
        let scalars: [UInt32] = [0, 0x08, 0x0B, 0x0C, 0x0D, 0x1B, 0x7F, 0x85, 0x9F, 0x202A, 0x202E, 0x2066, 0x2069]
        for scalar in scalars {
            let text = Unicode.Scalar(scalar).map { "a\($0)b" } ?? ""
            #expect(errors(.description, text) == refused, "\(scalar)")
        }
    }

    @Test(arguments: [
        "http://example.org", "HTTPS://example.org/", "https://xn--bcher-kva.example:8443/a/b;c?d=e&f[]=g#h",
        "https://a.b.example.org/%20",
        "https://1.2.3.4/", "https://example.org/~a/(b)'c'*+,$!@:", "https://example.org?q", "https://example.org#f",
        "https://example.org/" + String(repeating: "a", count: 980),
    ])
    func `an address of the web is a link`(link: String) { #expect(errors(.link, link) == []) }

    @Test(arguments: [
        "javascript:alert(1)", "JavaScript://example.org/%0aalert(1)", "data:text/html,hi", "ftp://example.org/",
        "//example.org/",
        "example.org", "https:example.org", "https:///example.org", "https://", "http://localhost/", "https://example",
        "https://.org/",
        "https://example..org/", "https://example.org./", "https://-a.example.org/", "https://a-.example.org/",
        "https://a_b.example.org/",
        "https://user@example.org/", "https://user:secret@example.org/", "https://example.org:secret@evil.example/",
        "https://example.org:/", "https://example.org:+80/", "https://example.org:65536/", "https://example.org:80:80/",
        "https://[::1]/",
        "https://bücher.example/", "https://example.org/é", "https://example.org/a b", "https://example.org/\"onclick=\"",
        "https://example.org/<script>", "https://example.org\\@evil.example/", "https://example.org/{a}",
        "https://example.org/%zz",
        "https://example.org/%2", " https://example.org/", "https://example.org/\n", "https://example.org/\u{202E}",
        "https://\(String(repeating: "a", count: 64)).example.org/", "https://example.org/e\u{301}",
    ])
    func `another text is no link`(text: String) {
        #expect(errors(.link, text) == ["/link not_a_link Link is not a valid web address"])
    }

    @Test func `a link has at most 1,000 characters`() {
        let link = "https://example.org/" + String(repeating: "a", count: 981)
        #expect(errors(.link, link) == ["/link too_long Link is too long (maximum is 1000 characters)"])
    }

    @Test func `a category is one of twelve words`() {
        for category in EventText.categories { #expect(errors(.category, category) == []) }
        #expect(EventText.categories.count == 12)
        let sentence = """
            Category must be one of: music, stage, film, art, learning, sport, outdoors, food, games, market, family, community
            """
        for text in ["Music", "musi", "music ", "mus\u{200B}ic", "rave", "music,film"] {
            #expect(errors(.category, text) == ["/category not_a_choice \(sentence)"], "\(text)")
        }
    }

    @Test func `a time zone is UTC or a known name with an area`() throws {
        for zone in ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Asia/Calcutta", "Etc/GMT+5"] {
            #expect(errors(.timeZone, zone) == [], "\(zone)")
        }
        for text in [
            "CET", "GMT", "GMT+2", "utc", "europe/berlin", "Europe/", "/Berlin", "Europe/Atlantis", "Europe/Berlin ",
            "../../etc/passwd",
            "Europe/../Europe/Berlin", "Etc/Unknown", "GMT+1/2",
            "+02:00", "Berlin", "Europe/Berl\u{131}n", String(repeating: "a/", count: 40),
        ] {
            #expect(errors(.timeZone, text) == ["/time_zone not_a_time_zone Time zone is not a valid time zone"], "\(text)")
        }
        // The names that the map page finds for a place.
        let names = try Repository.text("Sources/CEmbeddedPage/data/zones.tsv").split(separator: "\n").dropFirst()
            .flatMap { $0.split(separator: "\t").last?.split(separator: " ") ?? [] }
        #expect(names.count > 400 && names.filter { EventText.timeZone.error(in: String($0)) != nil } == [])
    }

    @Test func `the errors of texts come after all others, in the order of the texts`() {
        let sent: JSON = [
            "link": "x", "description": .number("1"), "time_zone": .bool(true), "category": [], "ended_at": "soon",
            "address": .number("1"),
        ]
        #expect(
            sentences { try EventDetails(sent) } == [
                "Lat can't be blank", "Lon can't be blank", "Name can't be blank", "Started at can't be blank",
                "Address is not a text",
                "Ended at is not a valid time", "Category is not a text", "Time zone is not a text", "Description is not a text",
                "Link is not a valid web address",
            ])
        let reversed: JSON = [
            "name": "Tea", "lat": .number("1"), "lon": .number("1"), "started_at": "2013-09-16T03:30:00Z",
            "ended_at": "2013-09-16T03:00:00Z", "link": "x",
        ]
        #expect(
            sentences { try EventDetails(reversed, isStrict: true) }
                == ["Ended at must not be before started at", "Link is not a valid web address"])
    }
}

@Suite struct `Changing the texts of an event` {
    @Test func `a merge patch of texts changes these alone, and is no empty patch`() throws {
        var expected = EventDetails.described
        (expected.texts[.category], expected.texts[.timeZone]) = (nil, "UTC")
        let patch = try EventPatch(["category": .null, "time_zone": "UTC"])
        #expect(patch.applied(to: .described) == expected)
        #expect(try EventPatch(["category": ""]) != .empty)
        #expect(
            sentences { try EventPatch(["link": "x", "name": .null]) } == [
                "Name can't be blank", "Link is not a valid web address",
            ])
    }
}

@Suite struct `Storing the texts of an event` {
    private static let stored =
        #""name":"Concert","address":null,"lat":-33.5,"lon":151.0,"category":"music","time_zone":"Australia/Sydney","#
        + #""description":"Two sets.\nBring a chair 🪑","link":"https://example.org/a?b=1&c[]=%C3%A9#d","#
        + #""started_at":"2013-09-16T03:30:00.000Z","ended_at":null}"#

    /// Another list needs the next format, so that an older program does not drop a text: docs/extending.md.
    @Test func `format 1 has these texts, all of them personal`() {
        #expect(EventText.allCases.map(\.rawValue) == ["category", "time_zone", "description", "link"])
        #expect(EventDomainEvent.personal.names.isSuperset(of: EventText.allCases.map(\.rawValue)))
        #expect(EventDomainEvent.storedTypes.allSatisfy { $0.currentFormat == 1 })
        #expect(
            EventDomainEvent.faults(of: [
                (.created(by: .ann, .described), "EventCreated", #"{"owner":1,"# + Self.stored),
                (.updated(.described), "EventUpdated", "{" + Self.stored),
                (.unhidden(OwnedDetails(.described, of: .ann)), "EventUnhidden", #"{"owner":1,"# + Self.stored),
            ]) == [])
    }

    @Test(
        arguments: [
            ("category", .number("1"), "no usable category in the stored data"),
            ("link", .null, "no usable link in the stored data"),
            ("category", "", "category is not a word of 1 to 64 visible ASCII characters"),
            ("time_zone", "Europe/ Berlin", "time_zone is not a word of 1 to 64 visible ASCII characters"),
            ("description", "a\0b", "description contains U+0000"),
            ("link", "javascript:alert(1)", "link does not begin with http:// or https://"),
        ] as [(String, JSON, String)])
    func `a stored text that could do harm is refused, without its value`(name: String, value: JSON, reason: String) throws {
        guard case .object(var object) = EventDomainEvent.updated(.described).stored.data else { throw FormatError("no object") }
        object[name] = value
        let refusal = EventDomainEvent.refusal(of: "EventUpdated", JSON.object(object).text)
        #expect(refusal == "EventUpdated, format 1: \(reason)")
    }

    @Test func `a stored category or zone that this program does not know is read`() throws {
        var details = EventDetails.described
        (details.texts[.category], details.texts[.timeZone]) = ("rave", "Moon/Tranquility")
        let event = EventDomainEvent.updated(details)
        #expect(try EventDomainEvent.decode("EventUpdated", together: event.stored.data.utf8) == event)
    }
}

@Suite struct `An event of which lists show a part` {
    @Test(.database) func `its row is read with all texts, a newer row waits for the index, and an older one is refused`()
        async throws
    {
        try await TestNode.with(database) { first in
            try await TestNode.with(database, listens: false) { deaf in
                let id = try await first.create(.described).id
                let (event, _) = try await deaf.module.readEvent(id, whole: { _ in true })
                #expect(event.isWhole && event.text.contains("Two sets."))
                let listed = try await deaf.module.readEvent(id).event
                #expect(!listed.isWhole && !listed.text.contains("Two sets.") && listed.markedVersion == event.markedVersion)
                // The index of the other node does not know of the change before it is asked.
                var details = EventDetails.described
                details.texts[.description] = "One set."
                let position = try await first.update(id, to: details)
                let (newer, view) = try await deaf.module.readEvent(id, whole: { _ in true })
                #expect((newer.version, view.end.position) == (2, position))
                #expect(newer.text.contains("One set.") && newer.text.contains("music"))
                #expect(try await deaf.module.verifyIndex().differences == [])
                // A program without this read model leaves the row behind the index.
                try await database.asSuperuser("UPDATE events_v1.events SET version = 1 WHERE id = 1")
                await #expect(throws: PositionNotReachedError(position: position)) {
                    try await first.module.readEvent(id, whole: { _ in true })
                }
                #expect(try await first.module.readEvent(id).event.version == 2)
            }
        }
    }

    @Test(.database) func `the comparison of the index finds another description, another link and another time`() async throws {
        try await TestNode.with(database) { node in
            for _ in 0..<4 { try await node.create(.described) }
            #expect(try await node.module.verifyIndex().differing == 0)
            _ = try await database.withClient { client in
                try await client.run([
                    "UPDATE events_v1.events SET description = 'Lie' WHERE id = 1",
                    "UPDATE events_v1.events SET link = NULL WHERE id = 2",
                    "UPDATE events_v1.events SET revised_at = revised_at + interval '1 second' WHERE id = 3",
                ])
            }
            let differences = try await node.module.verifyIndex().differences.sorted()
            #expect(differences == (1...3).map { "event \($0) is held with other content" })
        }
    }

    @Test(.node()) func `the note has the time of the last domain event, and the index has no text that lists leave out`()
        async throws
    {
        let id = try await node.create(.described).id
        let held = try #require(node.index.content.index.snapshot.event(id))
        let row = try #require(try await node.module.event(id))
        #expect(held.eventNote.revisedAt == EventNote.seconds(row.revisedAt) && held.eventNote.revisedAt > 1_700_000_000)
        #expect(EventNote(rawValue: held.note) == held.eventNote && held.eventNote.mark != 0)
        #expect(!String(decoding: held.payload, as: UTF8.self).contains("example.org"))
        try await node.create(.concert)
        #expect(node.index.content.index.snapshot.event(EventID(rawValue: 2))?.eventNote.mark == 0)
    }
}
