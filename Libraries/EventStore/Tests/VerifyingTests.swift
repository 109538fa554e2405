import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite(.store) struct `Verifying a read model` {
    @Test func `a verification finds a changed, a missing and a surplus row, and leaves nothing behind`() async throws {
        try await store.count(40)
        let equal = try await store.models.verify { _ in }
        #expect(equal == [Comparison(name: "sums", position: 40, rows: 7)])
        try await store.client.run([
            "UPDATE sums_v1.sums SET sum = 1 WHERE counter = '0-x'", "DELETE FROM sums_v1.sums WHERE counter = '1-x'",
            "INSERT INTO sums_v1.sums VALUES ('nobody', 7, 1)",
        ])
        let found = try await store.models.verify { _ in }
        #expect(found[0].differing == 3)
        #expect(
            found[0].differences == [
                .init(
                    table: "sums", key: #"{"counter" : "0-x"}"#, found: #"{"counter":"0-x","sum":1,"version":6}"#,
                    expected: #"{"counter":"0-x","sum":105,"version":6}"#),
                .init(
                    table: "sums", key: #"{"counter" : "1-x"}"#, found: nil,
                    expected: #"{"counter":"1-x","sum":111,"version":6}"#),
                .init(
                    table: "sums", key: #"{"counter" : "nobody"}"#, found: #"{"counter":"nobody","sum":7,"version":1}"#,
                    expected: nil),
            ])
        #expect(try await store.models.verify(limit: 1) { _ in }[0].differences.count == 1)
        // The rows differ whether or not the caller asked for each of them.
        let untold = try await store.models.verify(limit: 0) { _ in }[0]
        #expect(untold.differing == 3)
        #expect(untold.differences.isEmpty)
        #expect(try await store.models.list().map(\.schema) == ["sums_v1"])
    }

    @Test func `a verification during appends compares both sides at one position`() async throws {
        try await store.count(50)
        async let appended: Void = store.count(from: 50, 300)
        var positions: [Int64] = []
        try await eventually("300 appends") {
            let comparison = try await store.models.verify { _ in }[0]
            #expect(comparison.differing == 0)
            positions.append(comparison.position)
            return try await store.reader.tail() == 350
        }
        try await appended
        #expect(positions == positions.sorted())
        #expect(positions.count > 1)
    }
}
