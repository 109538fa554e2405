public import Encoding
internal import EventStore
public import Foundation
internal import SpatialIndex
internal import Synchronization
public import Users

/// Events as a calendar shows them.
public struct EventCalendar: Sendable {
    /// In the order of their begins. An event that was cancelled lately is among them, without description and link.
    public var events: [Event]
    let origin: UUID

    /// An id that no other event in the world has: the same on every node, after a restore and after an import.
    public func uid(of event: EventID) -> UUID { UUID(derivedFrom: "event \(event.rawValue) of the log \(origin)") }
}

/// A request for the events of an area in a calendar.
public struct CalendarRequest: Sendable, Hashable {
    public var area: EventArea
    var filter: EventFilter

    /// - Parameter json: the fields of an area, `q` and `category`
    /// - Throws: ``EventRejection/invalid(errors:)`` with all validation errors
    public init(_ json: JSON) throws(EventRejection) {
        var fields = EventFields(json)
        let area = fields.area()
        filter = fields.words()
        guard fields.errors.isEmpty, let area else { throw .invalid(errors: fields.errors) }
        self.area = area
    }
}

extension EventsModule {
    /// Maximum numbers of events of a calendar: that go on or come, that are over, and that were cancelled.
    private static let (nextOfCalendar, lastOfCalendar, cancelledOfCalendar) = (400, 100, 100)
    /// Maximum number of events that are looked through for the calendar of an area.
    private static let calendarLimit = 5_000
    /// Maximum numbers of a user's newest events and attendances that are looked through: the default quota of live events.
    public static let ownCalendarLimit = 10_000
    /// How far a calendar reaches in milliseconds, and the shortest time to which it is halved. It goes back for a twelfth of the time.
    private static let (longestCalendar, shortestCalendar) = (Int64(365 * 86_400_000), Int64(365 * 86_400_000 / 256))
    /// From 1970 to 2099. Readers fail at the first and the last years that an event may have, and show nothing of the whole calendar.
    private static let readable = Timestamp(milliseconds: 0)...Timestamp(milliseconds: 4_102_444_799_999)

    /// The events of an area from 30 days ago to a year ahead. Where they are too many, both times are halved until they are not. Of a crowd
    /// that is too large for a day and a half the calendar has a part: the nearest ones of a circle, the first ones of a box.
    /// - Parameter now: `nil` for the present time
    /// - Throws: ``IndexNotInUseError``, ``SearchesBusyError``, `PostgresError`, `CancellationError`
    public func calendar(of request: CalendarRequest, at now: Timestamp? = nil) async throws -> EventCalendar {
        EventCalendar(events: try await events(of: request, at: now), origin: try await knownOrigin())
    }

    /// The first events of ``calendar(of:at:)`` that go on or come, without cancelled ones.
    /// - Throws: what that throws, but for `PostgresError`
    public func nextEvents(of request: CalendarRequest, limit: Int) async throws -> [Event] {
        let now = dependencies.now()
        let next = try await events(of: request, at: now).filter { !$0.isCancelled && $0.details.place.endsAt >= now }
        return Array(next.prefix(limit))
    }

    private func events(of request: CalendarRequest, at now: Timestamp?) async throws -> [Event] {
        let (live, cancelled) = try calendarSnapshots()
        let now = now ?? dependencies.now()
        func find(_ snapshot: EventIndex.Snapshot, _ ahead: Int64, limit: Int) async throws -> (
            entries: [EventIndex.Entry], areAll: Bool
        ) {
            var filter = request.filter
            filter.from = Timestamp(milliseconds: now.milliseconds - ahead / 12)
            filter.to = Timestamp(milliseconds: now.milliseconds + ahead)
            return try await longSearches.entries(of: request.area, filter, limit: limit, in: snapshot)
        }
        var ahead = Self.longestCalendar
        var found = try await find(live, ahead, limit: Self.calendarLimit)
        if !found.areAll {
            // Before the other lengths: a crowd that is too large for the shortest one costs two searches.
            let crowd = try await find(live, Self.shortestCalendar, limit: Self.calendarLimit)
            if !crowd.areAll { (found, ahead) = (crowd, Self.shortestCalendar) }
        }
        while !found.areAll, ahead > Self.shortestCalendar {
            ahead /= 2
            found = try await find(live, ahead, limit: Self.calendarLimit)
        }
        // They take no place of a live event, and do not shorten the calendar: a user may cancel any number.
        let gone = try await find(cancelled, ahead, limit: Self.cancelledOfCalendar).entries.filter {
            live.entry($0.id) == nil && CancelledEvents.shows($0.eventNote.time, at: now)
        }
        return try Self.events(found.entries, gone, at: now)
    }

    /// One event for a calendar, with all its texts; without description and link if it was cancelled lately.
    /// - Parameters:
    ///   - now: `nil` for the present time
    ///   - caller: finds the caller, on whom the rejection of a hidden event depends; `nil` if the caller is not known
    /// - Throws: what ``readEvent(_:atLeast:for:whole:)`` throws: ``EventRejection/cancelled`` for an event that was cancelled 30 days ago
    public func calendar(
        of id: EventID, at now: Timestamp? = nil, for caller: () async throws -> UserID? = { nil }
    ) async throws -> EventCalendar {
        let event =
            if let gone = try eventCancelledLately(id, at: now) { try gone.event(isCancelled: true) } else {
                try await readEvent(id, for: caller, whole: { _ in true }).event.event()
            }
        return EventCalendar(events: [event], origin: try await knownOrigin())
    }

    /// The events that a user owns or attends, with all their texts, however far their times are.
    /// - Parameter attended: the events that the user attends, cancelled ones too
    /// - Throws: ``IndexNotInUseError``, `PostgresError`, `FormatError`, `CancellationError`
    public func calendar(of user: UserID, attending attended: [EventID]) async throws -> EventCalendar {
        let (live, cancelled) = try calendarSnapshots()
        guard let own = index?.content.newest(of: user, limit: Self.ownCalendarLimit) else { throw IndexNotInUseError() }
        let (ids, now) = (Set(own + attended), dependencies.now())
        var gone = ids.filter { live.event($0) == nil }.compactMap { cancelled.event($0) }
            .filter { CancelledEvents.shows($0.eventNote.time, at: now) }
        // The last cancelled ones first: a note begins with its time.
        gone.sort { ($0.note, $0.id) > ($1.note, $1.id) }
        let listed = try Self.events(
            ids.compactMap { live.event($0) }, Array(gone.prefix(Self.cancelledOfCalendar)), at: now)
        let rows = try await Self.events(listed.filter { !$0.isCancelled }.map(\.id), in: database)
        // A row may be newer than the index: what was hidden or erased since then has gone, and any other change may wait.
        let events = listed.compactMap { event in
            if event.isCancelled { return event }
            guard let row = rows[event.id], !row.isHidden else { return nil }
            return row.isCancelled || !Self.isReadable(row.details.place) ? event : row
        }
        return EventCalendar(events: events, origin: try await knownOrigin())
    }

    /// Returns an event that was cancelled within 30 days, without description and link; `nil` for any other event.
    /// - Parameter now: `nil` for the present time
    /// - Throws: ``IndexNotInUseError``
    public func eventCancelledLately(_ id: EventID, at now: Timestamp? = nil) throws -> RenderedEvent? {
        let (live, cancelled) = try calendarSnapshots()
        guard live.event(id) == nil, let gone = cancelled.event(id),
            CancelledEvents.shows(gone.eventNote.time, at: now ?? dependencies.now())
        else { return nil }
        return RenderedEvent(entry: gone)
    }

    private func calendarSnapshots() throws -> (live: EventIndex.Snapshot, cancelled: EventIndex.Snapshot) {
        guard let index, index.readable != nil, let snapshots = index.content.calendar else { throw IndexNotInUseError() }
        return snapshots
    }

    /// The next events, the last ones and the cancelled ones, in the order of their begins.
    private static func events(
        _ live: [EventIndex.Entry], _ cancelled: [EventIndex.Entry], at now: Timestamp
    ) throws -> [Event] {
        typealias Found = (entry: EventIndex.Entry, place: EventPlace, isCancelled: Bool)
        func ordered(_ found: [Found]) -> [Found] {
            found.sorted { ($0.place.startedAt, $0.entry.id) < ($1.place.startedAt, $1.entry.id) }
        }
        let all = ordered(live.map { ($0, $0.place, false) }.filter { isReadable($0.place) })
        let last = all.filter { $0.place.endsAt < now }.suffix(lastOfCalendar)
        let next = all.filter { $0.place.endsAt >= now }.prefix(nextOfCalendar)
        let gone: [Found] = cancelled.map { ($0, $0.place, true) }.filter { isReadable($0.place) }
        return try ordered(Array(last) + next + gone).map {
            try RenderedEvent(entry: $0.entry).event(isCancelled: $0.isCancelled)
        }
    }

    private static func isReadable(_ place: EventPlace) -> Bool {
        readable.contains(place.startedAt) && readable.contains(place.endsAt)
    }

    private func knownOrigin() async throws -> UUID {
        if let known = origin.withLock(\.self) { return known }
        guard let first = try await LogReader(client: database).read(after: 0, limit: 1).first?.envelope.id else {
            // There is no event, either.
            return UUID(derivedFrom: "")
        }
        origin.withLock { $0 = first }
        return first
    }
}

extension RenderedEvent {
    /// Reads the event from its JSON.
    /// - Throws: `FormatError`
    public func event(isCancelled: Bool = false) throws -> Event {
        let json = try JSON(utf8: withJSON { [UInt8]($0) })
        guard let name = json["name"]?.storedString else { throw FormatError("event \(entry.id) has no name in the index") }
        var texts: [EventText: String] = [:]
        for text in EventText.allCases { texts[text] = json[text.rawValue]?.storedString }
        let place = entry.place
        return Event(
            id: EventID(rawValue: entry.id), owner: entry.owner, version: entry.version,
            details: EventDetails(
                name: name, address: json["address"]?.storedString, coordinates: place.coordinates, startedAt: place.startedAt,
                endedAt: json["ended_at"]?.storedString.flatMap { Timestamp(rfc3339: $0) }, texts: texts),
            isCancelled: isCancelled, revisedAt: entry.eventNote.time)
    }
}
