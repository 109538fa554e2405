import Encoding
import EventStore
import SpatialIndex
import TestChance
import Testing
import Users

@testable import Events

@Suite struct `The filter of a list` {
    private static func request(_ query: String) throws -> BoxRequest {
        try BoxRequest(JSON(query: ("bbox=-180,-90,180,90" + query).utf8))
    }

    private static func errors(_ query: String) -> [String] {
        do {
            _ = try request(query)
            return []
        } catch {
            guard case EventRejection.invalid(let errors) = error else { return ["\(error)"] }
            return errors.map { "\($0.pointer) \($0.code.rawValue) \($0.detail)" }
        }
    }

    @Test func `an absent, null or blank q or category is no filter`() throws {
        for query in ["", "&q=", "&q=%20%09&category=", "&category=%20"] {
            #expect(try Self.request(query).filter == EventFilter(), "\(query)")
        }
        let json = JSON.object(
            JSONObject(members: [
                .init(name: "bbox", value: "1,2,3,4"), .init(name: "q", value: .null), .init(name: "category", value: .null),
            ]))
        #expect(try BoxRequest(json).filter == EventFilter())
    }

    @Test func `the text of a filter stays as the client sent it, and equal words are one search`() throws {
        let (one, other) = (try Self.request("&q=Caf%C3%A9,+B"), try Self.request("&q=cafe+b"))
        #expect(one.filter.text == "Café, B" && one.filter.words == other.filter.words && one.filter != other.filter)
        #expect(try Self.request("&category=art").filter.words != nil)
        #expect(try Self.request("&q=art").filter.words != (try Self.request("&category=art")).filter.words)
    }

    @Test func `each unusable q or category is named`() {
        let long = "Q is too long (maximum is 100 characters)"
        #expect(Self.errors("&q=" + String(repeating: "%C3%A9", count: 100)) == [])
        #expect(Self.errors("&q=" + String(repeating: "%C3%A9", count: 101)) == ["/q too_long \(long)"])
        #expect(Self.errors("&q=a+b+c+d+e+f+g+h") == [])
        #expect(Self.errors("&q=a+b+c+d+e+f+g+h+i") == ["/q too_many Q has too many words (maximum is 8)"])
        #expect(Self.errors("&q=!-+%CC%81") == ["/q invalid_characters Q has no word"])
        let choices = EventText.categories.joined(separator: ", ")
        let unknown = "/category not_a_choice Category must be one of: \(choices)"
        for category in ["Music", "music,art", "=music=", "%C3%A9"] { #expect(Self.errors("&category=\(category)") == [unknown]) }
        #expect(
            Self.errors("&from=x&q=.&category=x&limit=0").map { $0.prefix { $0 != " " } } == [
                "/from", "/q", "/category", "/limit",
            ])
    }

    @Test func `an event is found by its name, its address and its category, and by no other text`() {
        var details = EventDetails.picnic
        #expect(String(decoding: details.words, as: UTF8.self) == " picnic 85 2nd street")
        (details.name, details.address) = ("Ätna & Söhne", nil)
        details.texts = [.category: "family", .timeZone: "Europe/Berlin", .description: "Words", .link: "https://example.org"]
        #expect(String(decoding: details.words, as: UTF8.self) == " atna sohne =family=")
        // The log may have longer names than clients may send.
        details.name = String(repeating: "e\u{301}", count: 100_000)
        #expect(details.words.count == " ".utf8.count + 128 + " =family=".utf8.count)
    }
}

@Suite struct `Events with words through their changes` {
    private static let vocabulary = ["Chess", "Cheese", "Park", "Parking", "Market", "Ché", "12"]
    private static let earth = DegreeBox(south: -90, west: -180, north: 90, east: 180)

    private static func details(using generator: inout SeededGenerator) -> EventDetails {
        func text(_ count: Int) -> String {
            (0..<count).map { _ in vocabulary.randomElement(using: &generator) ?? "" }.joined(separator: " ")
        }
        var details = EventDetails(
            name: text(2), coordinates: Places.anywhere(using: &generator), startedAt: .startOfPicnic)
        if Bool.random(using: &generator) { details.address = text(1) }
        if Bool.random(using: &generator) { details.texts[.category] = ["art", "music"].randomElement(using: &generator) }
        return details
    }

    /// Written apart from the index: the vocabulary needs no folding but case and one accent.
    private static func has(_ beginnings: [String], _ category: String?, _ details: EventDetails) -> Bool {
        let words = "\(details.name) \(details.address ?? "")".lowercased().replacing("é", with: "e").split(separator: " ")
        return beginnings.allSatisfy { beginning in words.contains { $0.hasPrefix(beginning) } }
            && (category == nil || details.texts[.category] == category)
    }

    private static func query(_ beginnings: [String], _ category: String?) -> String {
        "&q=\(beginnings.joined(separator: "%20"))&category=\(category ?? "")"
    }

    /// Compares the lists, the clusters and the filter of a stream with a scan.
    private static func expect(
        _ live: [Event], in snapshot: EventIndex.Snapshot, using generator: inout SeededGenerator
    ) throws {
        for _ in 0..<8 {
            let beginnings = (0..<Int.random(in: 0...2, using: &generator)).map { _ in
                ["ch", "che", "chess", "chee", "par", "park", "parking", "m", "1", "zoo"].randomElement(using: &generator) ?? ""
            }
            let category = [nil, nil, "art", "music", "food"].randomElement(using: &generator) ?? nil
            let expected = live.filter { has(beginnings, category, $0.details) }.map(\.id.rawValue).sorted()
            let query = query(beginnings, category)
            let box = snapshot.search(try BoxRequest(JSON(query: "bbox=-180,-90,180,90\(query)".utf8))).result()
            try #require((0..<box.count).map { box[$0].id } == expected, "\(query)")
            let near = snapshot.search(try NearestRequest(JSON(query: "lat=1&lon=2&radius=50000\(query)".utf8))).result()
            try #require((0..<near.count).map { near[$0].id }.sorted() == expected, "\(query)")
            let request = try ClusterRequest(JSON(query: "bbox=-180,-90,180,90&zoom=1\(query)".utf8))
            try #require(EventClusterSearch(request, snapshot).result().reduce(0) { $0 + $1.count } == expected.count, "\(query)")
            let filter = ChangeFilter(try ChangeSearch(JSON(query: "bbox=-180,-90,180,90\(query)".utf8)))
            let shown = live.filter { event in
                snapshot.event(event.id).map(HeldEvent.init).map { filter.shows($0.place, with: $0.words) } == true
            }
            try #require(shown.map(\.id.rawValue).sorted() == expected, "\(query)")
        }
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `every list finds what a scan finds, after each batch of changes and after a load of the same events`(seed: UInt64)
        throws
    {
        var generator = SeededGenerator(seed: seed)
        var (versions, events): ([Int64: Int32], [EventID: Event]) = ([:], [:])
        let index = EventIndex()
        let render: EventRendering = { $1.append(contentsOf: $0.details.name.utf8) }
        var position: Int64 = 0
        for _ in 0..<15 {
            let recorded = (0..<20).map { _ in
                position += 1
                let id = Int64.random(in: 1...60, using: &generator)
                let version = versions[id, default: 0] + 1
                versions[id] = version
                let shown = events[EventID(rawValue: id)].flatMap {
                    $0.isCancelled ? nil : OwnedDetails($0.details, of: $0.owner)
                }
                let new = Self.details(using: &generator)
                let choices: [EventDomainEvent] = [
                    .updated(new), .updated(new), .updated(new), .cancelled, .fraud, .unhidden(shown),
                ]
                let event = version == 1 ? .created(by: .ann, new) : choices.randomElement(using: &generator)
                let envelope = EventEnvelope.of(id, version: version, event ?? .cancelled)
                events.apply(envelope)
                return (position: position, envelope: envelope)
            }
            let snapshot = index.snapshot
            let changes = IndexChanges(recorded, render: render) { snapshot.event($0).map(HeldEvent.init) }
            index.apply(EventIndex.Batch(changes.events), position: position)
            #expect(changes.changes.allSatisfy { $0.words.isEmpty == ($0.after == nil) })
            try Self.expect(events.values.filter(\.isLive), in: index.snapshot, using: &generator)
        }
        let loaded = EventIndex()
        var (batch, bulkLoad) = (EventIndex.Batch(), EventIndex.BulkLoad())
        for event in events.values where event.isLive { batch.put(event.id, HeldEvent(event, by: render)) }
        bulkLoad.put(batch)
        loaded.fill(from: &bulkLoad, position: position)
        try Self.expect(events.values.filter(\.isLive), in: loaded.snapshot, using: &generator)
        for id in events.keys {
            #expect(loaded.snapshot.event(id).map(HeldEvent.init) == index.snapshot.event(id).map(HeldEvent.init))
        }
    }

    @Test func `the words of an event are bounded, and end with a whole word and the category`() {
        var details = EventDetails.picnic
        details.texts[.category] = "music"
        for character in ["\u{FDFA}", "東", "\u{1F469}", "a"] {
            details.name = String(repeating: character, count: 255)
            details.address = String(repeating: "\(character) ", count: 127)
            let words = details.words
            #expect(words.count <= 1_024 + " =music=".utf8.count, "\(character)")
            #expect(String(validating: words, as: UTF8.self)?.hasSuffix(" =music=") == true, "\(character)")
        }
    }

    @Test func `a digest of an event differs if its words do`() {
        var event = HeldEvent(.picnicOfAnn, by: { $1.append(contentsOf: $0.details.name.utf8) })
        let digest = IndexDigest.digest(of: event)
        #expect(IndexDigest.digest(of: event) == digest)
        event.words += " lie".utf8
        #expect(IndexDigest.digest(of: event) != digest)
    }
}
