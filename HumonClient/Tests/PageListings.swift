import Foundation
import HumonClient

// The Swift listings of HumonClient/README.md. `make lint` holds the page equal to this file, and a test runs each function.

/// The events that a map shows.
struct ShownEvents {
    private(set) var byID: [Event.ID: Event] = [:]
    private(set) var isOffline = false

    mutating func apply(_ change: Change) {
        switch change {
        case .list(let events):
            byID = Dictionary(events.map { ($0.id, $0) }) { first, _ in first }
            isOffline = false
        case .put(let event): byID[event.id] = event
        case .gone(let id): byID[id] = nil
        case .interrupted: isOffline = true
        case .resumed: isOffline = false
        }
    }
}

func show(_ events: ShownEvents) {
    print(events.isOffline ? "Offline:" : "Here:", events.byID.values.map(\.name).sorted())
}

/// Each function has the listings' names as its parameters.
enum PageListings {
    static func signUp(server: URL, secret: String) async throws -> HumonAPI {
        let humon = HumonAPI(server: server, appSecret: secret, tokens: MemoryTokenStore())
        try await humon.signUp()
        return humon
    }

    static func publish(_ humon: HumonAPI) async throws {
        let here = Coordinate(latitude: 37.7487, longitude: -122.4182)
        let draft = EventDraft(name: "Chess", coordinate: here, startedAt: .now + 3_600)
        let id = try await humon.create(draft)
        try await humon.attend(id)
    }

    static func failToPublish(_ humon: HumonAPI, near here: Coordinate) async throws {
        do {
            _ = try await humon.create(EventDraft(name: "", coordinate: here, startedAt: .now))
        } catch HumonError.refused(let problem) where problem.code == .validationFailed {
            for error in problem.errors { print(error.pointer, error.detail) }
        }
    }

    static func search(_ humon: HumonAPI, near here: Coordinate) async throws {
        var cursor: Cursor?
        repeat {
            let page = try await humon.events(in: .circle(center: here, radiusKilometers: 2.5), after: cursor)
            for event in page.elements { print(event.name, here.kilometers(to: event.coordinate)) }
            cursor = page.next
        } while cursor != nil
    }

    static func change(_ humon: HumonAPI, _ id: Event.ID) async throws {
        let chess = try await humon.event(id)
        do {
            try await humon.change(id, EventPatch(address: .clear, endedAt: .set(chess.startedAt + 7_200)), if: chess.version)
        } catch HumonError.refused(let problem) where problem.code == .versionChanged {
            print("The event was changed meanwhile.")
        }
    }

    static func intent(_ humon: HumonAPI, _ draft: EventDraft) async throws {
        let intent = IdempotencyKey()
        // Keep the key with the draft, for example in a file, until this call has returned.
        let second = try await humon.create(draft, key: intent)
        print("The second event is \(second).")
    }

    static func follow(_ humon: HumonAPI, near here: Coordinate, _ show: (ShownEvents) -> Void) async throws {
        let region = Region.circle(center: here, radiusKilometers: 2.5)
        var shown = ShownEvents()
        for try await change in humon.changes(in: region) {
            shown.apply(change)
            show(shown)
        }
    }
}
