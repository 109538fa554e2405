import HTTPTypes
import TestDatabase
import Testing

@testable import HTTP

@Suite struct `Responding immediately` {
    private static func isAnswered(
        _ api: TestAPI, _ path: String, _ headers: HTTPFields = [:], _ method: HTTPRequest.Method = .get
    ) -> Bool {
        let request = HTTPRequest(method: method, scheme: nil, authority: nil, path: path, headerFields: headers)
        return TestAPI.Answer(immediately: request, by: api.router) != nil
    }

    @Test(.api()) func `a read that needs only the index gets an immediate response`() async throws {
        let id = try await api.createEvent(name: String(repeating: "🎉", count: 255))
        let near = "/v1/events/nearests?lat=1&lon=2"
        for path in [
            "/v1/events/\(id)", "//v1/events/\(id)/", "/v1/events/\(id)?x=y", "/v1/events/\(id).json", near,
            "/v1/events/nearest?lat=0&lon=0", "/v1/openapi.json", "/health/live",
        ] {
            #expect(Self.isAnswered(api, path), "\(path)")
            #expect(Self.isAnswered(api, path, [:], .head), "\(path)")
        }
        #expect(Self.isAnswered(api, "/v1/events/\(id)", [.ifNoneMatch: "\"1\""]))
        #expect(Self.isAnswered(api, near, [.humonPosition: "1"]))
        for coding in ["gzip", "zstd"] {
            #expect(Self.isAnswered(api, "/v1/events/\(id)", [.acceptEncoding: coding]), "\(coding)")
        }
        // Errors that need no database.
        for path in ["/v1/events/x", "/v1/events/nearests", "/nowhere"] { #expect(Self.isAnswered(api, path), "\(path)") }
        #expect(Self.isAnswered(api, "/v1/events/\(id)", [.ifMatch: "\"7\""]))
        #expect(Self.isAnswered(api, near, [.humonPosition: "x"]))
        #expect(Self.isAnswered(api, "/v1/events/\(id)", [:], .options))
        // These need a task: an event that the index lacks, a position that it has not reached, the database's health, and writes.
        for path in ["/v1/events/9999", "/health"] { #expect(!Self.isAnswered(api, path), "\(path)") }
        #expect(!Self.isAnswered(api, near, [.humonPosition: "4711"]))
        for method: HTTPRequest.Method in [.patch, .put] {
            #expect(!Self.isAnswered(api, "/v1/events/\(id)", [:], method), "\(method)")
        }
    }

    @Test(.api(reads: .devices)) func `a read that needs authentication gets no immediate response`() async throws {
        let id = try await api.createEvent()
        #expect(!Self.isAnswered(api, "/v1/events/\(id)"))
        #expect(!Self.isAnswered(api, "/v1/events/nearests?lat=1&lon=2"))
    }

    @Test(.api(loadsIndex: false)) func `a read without an index in use gets no immediate response`() async throws {
        let id = try await api.createEvent()
        #expect(!Self.isAnswered(api, "/v1/events/\(id)"))
    }

    @Test(.api()) func `an immediate response is counted once in the metrics`() async throws {
        let id = try await api.createEvent()
        for _ in 0..<3 { _ = Self.isAnswered(api, "/v1/events/\(id)") }
        for _ in 0..<2 { _ = Self.isAnswered(api, "/v1/events/9999") }
        let metrics = try await api.ask("/metrics").body
        #expect(metrics.contains(#"humon_http_requests_total{route="/v1/events/{id}",method="GET",status="200"} 3\#n"#))
        #expect(metrics.contains(#"humon_http_request_duration_seconds_count{route="/v1/events/{id}",method="GET"} 3\#n"#))
        #expect(!metrics.contains(#"route="/v1/events/{id}",method="GET",status="404""#))
        #expect(metrics.contains("humon_http_requests_in_flight 0\n"))
        #expect(metrics.contains("humon_index_reads_total 3\n"))
    }
}
