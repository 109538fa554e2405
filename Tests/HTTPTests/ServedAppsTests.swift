import HTTPServer
import HTTPTypes
import TestExposition
import Testing

@testable import HTTP

@Suite struct `A server without one of the apps` {
    static let each: [Set<ServedApp>] = [[.events], [.tasks], .all]

    @Test(arguments: each)
    func `the operators' metrics have those of the served app only, and the index is compared where it is`(
        apps: Set<ServedApp>
    ) async throws {
        try await TestAPI.with(apps: apps) { api in
            let metrics = try Exposed(try await api.ask("/metrics").body).samples.keys
            for name in ["humon_index_phase", "humon_index_reads_total", "humon_changes_streams"] {
                #expect(metrics.contains { $0.hasPrefix(name) } == apps.contains(.events), "\(name)")
            }
            #expect(metrics.contains { $0.contains("/v1/tasks") } == apps.contains(.tasks))
            #expect(try await api.ask("/index/check").status == (apps.contains(.events) ? 200 : 404))
            #expect(try await api.ask("/health/ready").status == 200)
        }
    }
}

@Suite struct `The names of apps` {
    @Test func `a list names each app at most once, and no other app`() {
        #expect(Set<ServedApp>("events,tasks") == .all)
        #expect(Set<ServedApp>("tasks") == [.tasks])
        for text in ["", ",", "events,", "tasks,tasks", "Events", "events tasks", "map"] {
            #expect(Set<ServedApp>(text) == nil, "\(text)")
        }
    }
}
