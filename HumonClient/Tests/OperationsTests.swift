import Foundation
import TestServer
import Testing

@testable import HumonClient

@Suite(.client) struct `The operations of the client` {
    @Test func `an event is created, read, changed, attended, listed, cancelled, and found in pages`() async throws {
        let humon = client.humon
        let owner = try await humon.me()
        let id = try await humon.create(TestClient.draft("Tea \u{1F375}"))
        let event = try await humon.event(id)
        #expect(
            event.value
                == Event(
                    id: id, name: "Tea \u{1F375}", coordinate: TestClient.here,
                    startedAt: Date(timeIntervalSince1970: 1_915_000_000.125), owner: owner))
        try await humon.change(id, EventPatch(address: .set("Park"), endedAt: .set(event.startedAt + 60)), if: event.version)
        await #expect { try await humon.cancel(id, if: event.version) } throws: { error in
            (error as? HumonError)?.problem?.code == .versionChanged
        }
        let words = EventPatch(category: .set("food"), description: .set("Bring cups."))
        try await humon.change(id, words)
        // A draft of an event from a list has no description, and takes none away.
        let listed = try #require(try await humon.events(in: TestClient.near).elements.first)
        #expect((listed.category, listed.description) == ("food", nil))
        try await humon.replace(id, with: EventDraft(listed))
        #expect(try await humon.event(id).value.description == "Bring cups.")
        let calendar = String(decoding: try await humon.calendar(of: id), as: UTF8.self)
        #expect(calendar.contains("\r\nSUMMARY:Tea \u{1F375}\r\n") && calendar.contains("\r\nDESCRIPTION:Bring cups.\r\n"))
        let feed = String(decoding: try await humon.calendar(in: TestClient.near), as: UTF8.self)
        #expect(feed.hasPrefix("BEGIN:VCALENDAR\r\n") && feed.hasSuffix("END:VCALENDAR\r\n"))
        try await humon.attend(id)
        #expect(try await humon.attendance(of: id) == AttendanceSummary(count: 1, attending: true))
        #expect(try await humon.attendees(of: id).elements == [owner])
        #expect(try await humon.myAttendances().elements.map(\.address) == ["Park"])
        let clusters = try await humon.clusters(in: .world, zoom: 2)
        #expect(clusters.elements.map(\.count) == [1] && clusters.elements[0].coordinate == TestClient.here)
        #expect(try await humon.clusters(in: .world, zoom: 2, words: "te", category: "food").elements == clusters.elements)
        await #expect { try await humon.calendar(in: TestClient.near, words: "!") } throws: { error in
            (error as? HumonError)?.problem?.errors.map(\.pointer) == ["/q"]
        }
        try await humon.cancel(id)
        #expect(try await humon.events(in: TestClient.near).elements.isEmpty)
        let export = String(decoding: try await humon.exportUser(), as: UTF8.self)
        #expect(export.contains(#""type":"EventCancelled""#) && export.hasSuffix("]}\n"), "\(export)")
        #expect(String(decoding: try await humon.openAPIDocument(), as: UTF8.self).contains(#""openapi": "3.1.0""#))

        var ids: [Event.ID] = []
        for _ in 0..<3 { ids.append(try await humon.create(TestClient.draft())) }
        let past = TimeWindow(to: Date(timeIntervalSince1970: 1_914_000_000))
        for region in [TestClient.near, .box(.world)] {
            var (found, cursor) = ([Event.ID](), Cursor?.none)
            repeat {
                let page = try await humon.events(in: region, limit: 2, after: cursor)
                found += page.elements.map(\.id)
                cursor = page.next
            } while cursor != nil
            #expect(found == ids, "\(region)")
            #expect(try await humon.events(in: region, during: past).elements.isEmpty)
            #expect(try await humon.events(in: region, words: "ch\u{E9}", after: nil).elements.map(\.id) == ids)
            #expect(try await humon.events(in: region, words: " ", category: "music").elements.isEmpty)
            #expect(try await humon.events(in: region, words: "tea & chess").elements.isEmpty)
        }
        #expect(try await humon.myEvents(limit: 2).elements.map(\.id) == [ids[2], ids[1]])
    }
}
