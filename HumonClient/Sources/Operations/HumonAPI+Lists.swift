internal import Foundation

extension HumonAPI {
    /// Maximum number of elements of a page, which is also its default.
    public static let pageLimit = 1_000

    /// The events in a region: from the nearest on in a circle, in the order of ids in a box.
    /// - Parameters:
    ///   - window: only events that overlap it
    ///   - words: only events with words, in name or address, that begin with each of these: `che park` finds "Chess in the park". Case and
    ///     accents make no difference. At most 100 Unicode scalars and 8 words; `nil` and a text of spaces find all events
    ///   - category: only events of this kind, such as `music`
    ///   - limit: 1 to 1,000
    ///   - cursor: ``Page/next`` of the page before, with the same region, window, words and category
    /// - Throws: the code `validationFailed` for unusable words and an unknown category
    public func events(
        in region: Region, during window: TimeWindow = .always, words: String? = nil, category: String? = nil,
        limit: Int = pageLimit, after cursor: Cursor? = nil
    ) async throws -> Page<Event> {
        let path =
            switch region {
            case .circle: "/v1/events/nearests"
            case .box: "/v1/events"
            }
        return try await page(.get(path, region.query + window.query(words, category)), limit: limit, after: cursor)
    }

    /// Number and place of the events in each cell of a map with too many events.
    /// - Parameters:
    ///   - zoom: 0 to 22, of a map with tiles of 256 pixels; one cell has 64 by 64 pixels. The box may have 4,096 cells
    ///   - window: only events that overlap it
    ///   - words: as in ``events(in:during:words:category:limit:after:)``
    ///   - category: only events of this kind
    /// - Throws: the code `validationFailed` for too many cells, unusable words and an unknown category
    public func clusters(
        in box: Box, zoom: Int, during window: TimeWindow = .always, words: String? = nil, category: String? = nil
    ) async throws -> Page<Cluster> {
        let query = [("bbox", box.text), ("zoom", "\(zoom)")] + window.query(words, category)
        return try await page(.get("/v1/events/clusters", query))
    }

    /// The events of this device's user, the newest first, without cancelled and hidden ones.
    /// - Parameters: see ``events(in:during:words:category:limit:after:)``
    /// - Throws: as ``HumonAPI`` says
    public func myEvents(limit: Int = pageLimit, after cursor: Cursor? = nil) async throws -> Page<Event> {
        try await page(.get("/v1/users/me/events", by: .device), limit: limit, after: cursor)
    }

    /// The events that this device's user attends, the newest attendance first.
    ///
    /// A page may be shorter than its limit, even empty, and still have a next one: cancelled and hidden events are left out.
    /// - Parameters: see ``events(in:during:words:category:limit:after:)``
    /// - Throws: as ``HumonAPI`` says
    public func myAttendances(limit: Int = pageLimit, after cursor: Cursor? = nil) async throws -> Page<Event> {
        try await page(.get("/v1/users/me/attendances", by: .device), limit: limit, after: cursor)
    }

    func page<Element: Decodable & Sendable>(
        _ request: Request, limit: Int? = nil, after cursor: Cursor? = nil
    ) async throws -> Page<Element> {
        var request = request
        if let limit { request.query.append(("limit", "\(limit)")) }
        if let cursor { request.query.append(("after", cursor.rawValue)) }
        return try await decodedPage(request)
    }

    /// Off the caller's executor: 1,000 events take some milliseconds, which a main actor does not have.
    @concurrent private func decodedPage<Element: Decodable & Sendable>(_ request: Request) async throws -> Page<Element> {
        let response = try await requester.send(request)
        // An object says that there are none.
        let isArray = response.body.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "[")
        return Page(
            elements: isArray ? try Requester.decoded([Element].self, response.body) : try Self.none(in: response.body),
            next: response.head["link"].flatMap { Cursor(link: $0) },
            position: response.head["humon-position"].map(Position.init(rawValue:)))
    }

    private struct NoEventsFound: Decodable { var message: String }

    private static func none<Element>(in body: Data) throws -> [Element] {
        let found = try Requester.decoded(NoEventsFound.self, body)
        guard found.message == "No Events Found" else { throw HumonError.unusableResponse("it is no list") }
        return []
    }
}
