import Encoding
import EventStore
import Events
import Foundation
import HTTPTypes
import Postgres
import TestDatabase
import TestExposition
import Testing

@testable import HTTP

@Suite struct `The operators' address` {
    private static let paths = ["/health/ready", "/metrics", "/index/check"]

    private static func metrics(_ api: TestAPI) async throws -> [String: Double] {
        let answer = try await api.ask("/metrics")
        #expect((answer.status, answer.header("content-type")) == (200, "text/plain; version=0.0.4; charset=utf-8"))
        return try Exposed(answer.body).samples
    }

    private static func phase(in metrics: [String: Double]) -> [String] {
        metrics.filter { $0.key.hasPrefix("humon_index_phase{") && $0.value == 1 }.map(\.key)
    }

    private static func read(_ api: TestAPI, _ event: Int64) async throws {
        #expect(try await api.send(.get, "/v1/events/\(event)").status == 200)
        #expect(try await api.send(.get, "/v1/events/nearests?lat=37.76&lon=-122.43").status == 200)
        #expect(try await api.send(.get, "/v1/events/nearests?lat=0&lon=0").status == 200)
    }

    @Test(.api()) func `the metrics show the state of the index and count reads from the index`() async throws {
        let event = try await api.createEvent()
        let before = try await Self.metrics(api)
        #expect(Self.phase(in: before) == [#"humon_index_phase{phase="in_use"}"#])
        #expect(before.keys.count { $0.hasPrefix("humon_index_phase{") } == InMemoryPhase.allCases.count)
        #expect((before["humon_index_events"], before["humon_index_position"]) == (1, 2))
        #expect(try #require(before["humon_index_bytes"]) > 200)
        #expect(before["humon_index_limit_bytes"] == 1_000_000_000)
        #expect(try (0...3_600).contains(#require(before["humon_index_age_seconds"])))
        #expect(before["humon_index_reads_total"] == 0)
        try await Self.read(api, event)
        let after = try await Self.metrics(api)
        #expect(after["humon_index_reads_total"] == 3)

        let ready = try await api.ask("/health/ready")
        #expect((ready.status, ready.body) == (200, #"{"status":"ok","database":"ok","index":"in_use"}"#))
        #expect(ready.header("x-content-type-options") == "nosniff")
        let check = try await api.ask("/index/check")
        let cursor = try await api.log.cursor(at: 2)
        #expect(
            (check.status, check.body) == (
                200, #"{"position":2,"cursor":"\#(cursor)","events":1,"differing":0,"differences":[],"memory_percent":0}"#
            ))
    }

    @Test(.api(loadsIndex: false))
    func `an index that loads is no reason to send requests to the node, and is not compared`() async throws {
        let metrics = try await Self.metrics(api)
        #expect(Self.phase(in: metrics) == [#"humon_index_phase{phase="loading"}"#])
        #expect(metrics["humon_index_events"] == 0)
        let ready = try await api.ask("/health/ready")
        #expect((ready.status, ready.body) == (503, #"{"status":"starting","database":"ok","index":"loading"}"#))
        let check = try await api.ask("/index/check")
        #expect((check.status, check.body) == (503, #"{"message":"the index is not in use","index":"loading"}"#))
    }

    @Test(.api()) func `the index check reports differences without any personal data`() async throws {
        let event = try await api.createEvent("a-device", lat: 12.345678, lon: 98.765432, name: "A surprise party")
        try await api.database.withClient { client in
            _ = try await client.query("UPDATE events_v1.events SET name = 'Another surprise', version = 7 WHERE id = \(event)")
        }
        let check = try await api.ask("/index/check")
        #expect(check.status == 200)
        #expect(check.json?["differing"] == .number("1"))
        #expect(check.json?["differences"] == .array([.string("event \(event) is held with version 1, not 7")]))
        for path in Self.paths {
            let body = try await api.ask(path).body
            for said in ["a-device", TestAPI.secret, "12.34", "98.76", "surprise", "85 2nd", "2013-09"] {
                #expect(!body.contains(said), "\(path) tells \(said)")
            }
        }
    }

    @Test(.api(adminToken: SharedSecret("operators-token-1")))
    func `with an admin token a request without the token gets 401, and a probe does not need the token`() async throws {
        for path in ["/metrics", "/index/check"] {
            for sent in [
                nil, "", "Bearer", "Bearer operators-token-2", "Basic operators-token-1", "operators-token-1",
                "Bearer operators-token-1, Bearer operators-token-1",
            ] {
                let refusal = try await api.ask(path, authorization: sent)
                #expect((refusal.status, refusal.body) == (401, #"{"message":"Unauthorized"}"#), "\(path) \(sent ?? "-")")
                #expect(refusal.header("www-authenticate") == "Bearer")
            }
            for scheme in ["Bearer", "bearer"] {
                #expect(try await api.ask(path, authorization: "\(scheme) operators-token-1").status == 200, "\(path)")
            }
        }
        #expect(try await api.ask("/nothing").status == 401)
        for path in ["/health/live", "/health/ready"] { #expect(try await api.ask(path).status == 200, "\(path)") }
    }

    @Test(.api()) func `the operators' address serves no API route, and the API serves no operators' route`() async throws {
        // Every address answers the liveness probe.
        #expect(try await api.ask("/health/live").status == 200)
        let reserved = ["/health", "/v1/openapi.json", "/v1/events/1", "/v1/events/nearests?lat=1&lon=2"]
        for path in reserved { #expect(try await api.ask(path).status == 404, "\(path)") }
        for path in Self.paths {
            #expect(try await api.send(.get, path).status == 404, "\(path)")
            #expect(try await api.ask(path).status == 200, "\(path)")
            let head = try await api.ask(path, .head)
            #expect((head.status, head.body) == (200, ""), "\(path)")
            #expect(try await api.ask(path, .post).status != 200, "\(path)")
        }
    }
}
