internal import Encoding
internal import Events
internal import HTTPServer
internal import HTTPTypes
internal import Hashing
internal import NIOCore

/// Pages for people who follow a link to an event, and a list of an area's events for other people's pages. Neither needs a script.
struct EventPages: Sendable {
    /// Of an event, and of a list that any other page may have in a frame.
    static let (path, embeddedPath) = ("/events/{id}", "/embed")
    /// Maximum number of events of that list.
    private static let embeddedEvents = 20

    private let events: EventsModule
    private let release: PageRelease
    private let origin: Origin?
    /// By language, what the entity tags of all events have in common: it changes with whatever makes the pages.
    private let marks: [String: UInt32]

    /// - Parameter origin: of the pages' addresses; `nil`: no page names its own
    init(_ events: EventsModule, _ release: PageRelease, origin: Origin?) {
        (self.events, self.release, self.origin) = (events, release, origin)
        let marks = release.texts.map { texts in
            let page = Self.page(of: .sample, release, texts, origin)
            return (texts.language, UInt32(truncatingIfNeeded: SHA256.hash(page.text.utf8).number))
        }
        self.marks = Dictionary(uniqueKeysWithValues: marks)
    }

    var routes: [Route] {
        [
            Route(.get, Self.path, immediately: getKnown, get),
            Route(.get, Self.embeddedPath, immediately: { _, _ in .needsLongTask }, getEmbedded),
        ]
    }

    /// A page that the visitor has costs nothing. Any other one is written in a task: some zones and texts take a millisecond.
    private func getKnown(_ request: Request, _ context: RequestContext) throws -> ImmediateResponse {
        let texts = release.texts(for: request)
        guard let found = events.indexView()?.event(EventID(rawValue: try context.id())) else { return .needsTask }
        let tag = tag(found.markedVersion, texts)
        guard request.matchesIfNoneMatch(tag) else { return .needsTask }
        events.countRead()
        return .response(Self.response(texts, tag, nil))
    }

    private func get(_ request: Request, _ context: RequestContext) async throws -> Response {
        let id = EventID(rawValue: try context.id())
        let texts = release.texts(for: request)
        let gone = try events.eventCancelledLately(id)
        let found =
            if let gone { gone } else {
                try await events.readEvent(id, whole: { !request.matchesIfNoneMatch(tag($0, texts)) }).event
            }
        let current = tag(found.markedVersion, texts)
        guard !request.matchesIfNoneMatch(current) else { return Self.response(texts, current, nil) }
        return Self.response(texts, current, Self.page(of: try found.event(isCancelled: gone != nil), release, texts, origin))
    }

    private static func page(of event: Event, _ release: PageRelease, _ texts: PageTexts, _ origin: Origin?) -> HTML {
        let page = EventPage(event, texts, origin: origin)
        return release.document(in: texts, title: page.title, script: "event.js", head: page.head, page.body)
    }

    private func tag(_ version: EventVersion, _ texts: PageTexts) -> EntityTag {
        EntityTag(version: Int64(version.number), mark: version.mark ^ (marks[texts.language] ?? 0))
    }

    /// - Parameter page: `nil` if the visitor has it
    private static func response(_ texts: PageTexts, _ tag: EntityTag, _ page: HTML?) -> Response {
        var response =
            page.map { Response(headers: [.contentType: HTML.mediaType], body: ByteBuffer(string: $0.text)) }
            ?? Response(status: .notModified)
        response.headers[.eTag] = tag.description
        response.headers[.cacheControl] = "public, no-cache"
        response.headers[.contentLanguage] = texts.language
        response.headers[.vary] = "Accept-Language"
        return response
    }

    /// The next events of an area, as links.
    private func getEmbedded(_ request: Request, _ context: RequestContext) async throws -> Response {
        let texts = release.texts(for: request)
        let next = try await events.nextEvents(of: CalendarRequest(request.queryFields()), limit: Self.embeddedEvents)
        let items = next.map { EventPage($0, texts, origin: nil).item }
        let list: HTML = items.isEmpty ? "<p>\(texts["embed.empty"])</p>" : "<ul>\n\(items.joined())</ul>"
        let title = texts["embed.title"]
        let page = release.document(in: texts, title: title, "<h1>\(title)</h1>\n\(list)")
        let tag = EntityTag(version: SHA256.hash(page.text.utf8).number)
        return Self.response(texts, tag, request.matchesIfNoneMatch(tag) ? nil : page)
    }
}

/// Shows the errors of pages as pages.
struct ErrorPages: Middleware {
    let release: PageRelease

    func finish(_ response: inout Response, for request: Request, _ context: RequestContext) {
        guard [.clientError, .serverError].contains(response.status.kind), isForPeople(request, context) else { return }
        let texts = release.texts(for: request)
        // What a query lacks, for whoever writes the address into a page.
        let body = try? JSON(utf8: response.body.readableBytesView)
        let advice: [HTML] =
            if case .array(let errors)? = body?["errors"] {
                errors.compactMap { if case .string(let text) = $0 { "<p>\(text)</p>\n" } else { nil } }
            } else { [] }
        let title = texts.find("error.page.\(response.status.code)") ?? texts["error.page"]
        let page = release.document(
            in: texts, title: title,
            "<h1>\(title)</h1>\n\(advice.joined())<p><a href=\"/\" target=\"_top\">\(texts["event.map"])</a></p>")
        response.body = ByteBuffer(string: page.text)
        response.headers[.contentEncoding] = nil
        response.headers[.contentType] = HTML.mediaType
        response.headers[.contentLanguage] = texts.language
    }

    /// An address of one of the pages, or one outside of the API that nothing has, for a browser that shows it to a person.
    private func isForPeople(_ request: Request, _ context: RequestContext) -> Bool {
        if let route = context.route { return [EventPages.path, EventPages.embeddedPath].contains(route.template) }
        return !request.path.utf8.starts(with: "/v1".utf8) && request.headers.value(of: .accept)?.contains("text/html") == true
    }
}
