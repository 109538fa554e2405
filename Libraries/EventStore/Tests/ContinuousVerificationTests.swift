import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Comparing the rows of read models in the background` {
    @Test func `a changed and a missing row are found, and equal rows are not`() async throws {
        try await TestStore.with { store in
            try await store.count(40)
            try await store.client.withConnection { connection in
                let comparison = try await SampleComparison(of: [SumProjection()], on: connection)
                let sound = try #require(try await comparison.compare(after: 0))
                #expect(sound.through == 40)
                #expect(sound.results["sums_v1"].map { [$0.rows, $0.differing] } == [7, 0])
                let isEnd = try await comparison.compare(after: 40) == nil
                #expect(isEnd)
                try await store.client.run([
                    "UPDATE sums_v1.sums SET sum = 1 WHERE counter = '0-x'", "DELETE FROM sums_v1.sums WHERE counter = '1-x'",
                ])
                for _ in 0..<2 {
                    let faulty = try #require(try await comparison.compare(after: 0))
                    #expect(faulty.results["sums_v1"].map { [$0.rows, $0.differing] } == [7, 2])
                }
                // The streams of six counters begin after the first position.
                let rest = try #require(try await comparison.compare(after: 1))
                #expect(rest.results["sums_v1"].map { [$0.rows, $0.differing] } == [6, 1])
            }
        }
    }

    @Test func `appends and a rebuild meanwhile make no difference`() async throws {
        try await TestStore.with { store in
            try await store.count(30)
            async let appended: Void = store.count(from: 30, 300)
            async let rebuilt = store.models.rebuild { _ in }
            try await store.database.withClient(role: "humon_app", connections: 1) { client in
                try await client.withConnection { connection in
                    let comparison = try await SampleComparison(of: [SumProjection()], on: connection)
                    try await eventually("300 appends") {
                        let page = try #require(try await comparison.compare(after: 0))
                        #expect(page.results["sums_v1"].map { [$0.rows, $0.differing] } == [7, 0])
                        return page.through == 330
                    }
                }
            }
            _ = try await (appended, rebuilt)
        }
    }

    @Test func `the service counts a row that was changed before it started`() async throws {
        try await TestStore.with { store in
            try await store.count(40)
            try await store.client.query("UPDATE sums_v1.sums SET sum = 1 WHERE counter = '3-x'")
            try await store.database.withClient(role: "humon_app", connections: 1) { client in
                let verification = ContinuousVerification(projections: [SumProjection()], client: client, logger: .quiet)
                let running = Task { try await verification.run() }
                defer { running.cancel() }
                try await eventually("a pass") { verification.status.passes == 1 }
                #expect(verification.status.readModels == ["sums_v1": .init(rows: 7, differing: 1)])
            }
        }
    }
}
