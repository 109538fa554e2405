internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Notation
internal import Users

extension API {
    var eventRoutes: [Route] {
        [
            Route(.post, "/v1/events", "createEvent", createEvent),
            Route(.get, "/v1/events/nearests", "findNearestEvents", atOnce: findNearestInMemory, findNearestEvents),
            Route(.get, "/v1/events/nearest", "findNearestEventsSingular", atOnce: findNearestInMemory, findNearestEvents),
            Route(.get, "/v1/events/{id}", "getEvent", atOnce: getEventInMemory, getEvent),
            Route(.patch, "/v1/events/{id}", "updateEvent", updateEvent),
            Route(.put, "/v1/events/{id}", "replaceEvent", updateEvent),
        ]
    }

    private func createEvent(_ request: Request, _ exchange: Exchange) async throws -> Answer {
        let writer = try requireWriter(request)
        let fields = try await request.fields(allowing: [.json, .form], limitBytes: settings.bodyLimitBytes)
        let details = try EventDetails(fields.json)
        let origin = request.origin(exchange, key: try request.idempotencyKey(fields))
        let owner = try await caller(writer.token)
        let (id, position) = try await events.create(CreateEvent(details: details, owner: owner), origin: origin)
        return Answer(json: ["id": JSON(id.rawValue)], recordedAt: position, writer.allowance)
    }

    private func updateEvent(_ request: Request, _ exchange: Exchange) async throws -> Answer {
        let writer = try requireWriter(request)
        let fields = try await request.fields(allowing: [.json, .form, .mergePatch], limitBytes: settings.bodyLimitBytes)
        let change: UpdateEvent.Change =
            switch fields.format {
            case .json, .form: .replace(try EventDetails(fields.json))
            case .mergePatch: .merge(try EventPatch(fields.json))
            }
        let origin = request.origin(exchange, key: try request.idempotencyKey(fields))
        let caller = try await caller(writer.token)
        let command = UpdateEvent(
            id: try eventID(exchange), change: change, by: caller, condition: request.versionCondition
        )
        let (id, position) = try await events.update(command, origin: origin)
        return Answer(json: ["id": JSON(id.rawValue)], recordedAt: position, writer.allowance)
    }

    private func getEvent(_ request: Request, _ exchange: Exchange) async throws -> Answer {
        try await requireReader(request)
        let id = try eventID(exchange)
        let reading = try await events.reading(since: try request.position())
        guard let event = try await reading.event(id) else { throw Refusal.notFound }
        return try answer(event, to: request, reading)
    }

    private func getEventInMemory(_ request: Request, _ exchange: Exchange) throws -> Answer? {
        try answerAtOnce(request) { reading in
            try reading.heldEvent(eventID(exchange)).map { try answer($0, to: request, reading) }
        }
    }

    private func findNearestEvents(_ request: Request, _ exchange: Exchange) async throws -> Answer {
        try await requireReader(request)
        let search = try NearbySearch(request.queryFields())
        let reading = try await events.reading(since: try request.position())
        if let answer = answerToHolder(of: reading, request) { return answer }
        return answer(try await reading.nearest(search), to: search, reading)
    }

    private func findNearestInMemory(_ request: Request, _ exchange: Exchange) throws -> Answer? {
        try answerAtOnce(request) { reading in
            let search = try NearbySearch(request.queryFields())
            if let answer = answerToHolder(of: reading, request) { return answer }
            guard let found = reading.heldNearest(search), request.coding(ofBytes: found.jsonBytes) == nil else { return nil }
            return answer(found, to: search, reading)
        }
    }

    /// Where memory is all that it takes. To compress an answer takes longer than to find it, and is left to others.
    private func answerAtOnce(_ request: Request, _ answer: (EventsReading) throws -> Answer?) throws -> Answer? {
        guard settings.reads == .everyone, let reading = events.readingOfMemory(since: try request.position()),
            let answer = try answer(reading), request.coding(ofBytes: answer.body.readableBytes) == nil
        else { return nil }
        events.countReadingOfMemory()
        return answer
    }

    private func answer(_ event: RenderedEvent, to request: Request, _ reading: EventsReading) throws(Refusal) -> Answer {
        let condition = request.versionCondition
        guard condition.matching.contains(event.version) else { throw .preconditionFailed }
        let isKnown = condition.notMatching.contains(event.version)
        var answer = isKnown ? Answer(status: .notModified) : Answer(jsonBytes: event.withJSON { ByteBuffer(bytes: $0) })
        answer.headers.append(HTTPField(name: .eTag, value: EntityTag(version: Int64(event.version)).description))
        answer.mayBeKept(where: settings.reads)
        if event.isFromMemory { answer.tellAge(of: reading) }
        return answer
    }

    /// To a client that has the list already. While nothing is recorded anywhere, nothing has changed near a place; then there is
    /// nothing to look for.
    private func answerToHolder(of reading: EventsReading, _ request: Request) -> Answer? {
        guard let position = reading.position, request.knows(EntityTag(version: position)) else { return nil }
        return finished(Answer(status: .notModified), reading)
    }

    private func answer(_ found: RenderedEvents, to search: NearbySearch, _ reading: EventsReading) -> Answer {
        var answer = Answer(jsonBytes: found.count > 0 ? found.json : ByteBuffer(string: #"{"message":"No Events Found"}"#))
        if let next = found.next { answer.headers[.link] = "<\(search.path(after: next))>; rel=\"next\"" }
        return finished(answer, reading)
    }

    /// A list as it is at a position, which is its tag.
    private func finished(_ list: Answer, _ reading: EventsReading) -> Answer {
        var list = list
        if let position = reading.position {
            list.headers.append(HTTPField(name: .eTag, value: EntityTag(version: position).description))
        }
        list.mayBeKept(where: settings.reads)
        list.tellAge(of: reading)
        return list
    }

    /// The event that the path names.
    /// - Throws: ``Refusal/notFound`` where that is no number
    private func eventID(_ exchange: Exchange) throws(Refusal) -> EventID {
        guard let text = exchange.route?.argument, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text)
        else { throw .notFound }
        return EventID(rawValue: number)
    }
}

extension RenderedEvents {
    /// An array of them: what is rendered already, put together.
    fileprivate var json: ByteBuffer {
        let size = jsonBytes + count + 1
        var buffer = ByteBuffer()
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { output in
            var rest = UnsafeMutableRawBufferPointer(rebasing: output[..<size])
            forEachJSON { json in
                // A comma before each, the first of which becomes the bracket.
                rest[0] = UInt8(ascii: ",")
                UnsafeMutableRawBufferPointer(rebasing: rest[1...]).copyMemory(from: json)
                rest = UnsafeMutableRawBufferPointer(rebasing: rest[(json.count + 1)...])
            }
            rest[0] = UInt8(ascii: "]")
            output[0] = UInt8(ascii: "[")
            return size
        }
        return buffer
    }
}

extension NearbySearch {
    /// Relative, since behind a proxy the server does not know its own address.
    fileprivate func path(after next: Cursor) -> String {
        "/v1/events/nearests?lat=\(centre.lat)&lon=\(centre.lon)&radius=\(radius)&limit=\(limit)&after=\(next)"
    }
}
