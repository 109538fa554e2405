import Foundation
import TestDatabase
import TestServer
import Testing

@testable import App

@Suite struct `The time limits of the doctor` {
    @Test func `a server that does not answer delays only its own check`() async throws {
        let server = try SilentListener()
        let port = server.port
        try await HumonProcess.withDatabase { _, directory, environment in
            #expect(try await HumonProcess.run(["migrate"], in: directory, environment: environment).status == 0)
            let doctor = try HumonProcess(
                ["doctor", "--json"], in: directory, environment: environment.merging(["HUMON_ADMIN_PORT": "\(port)"]) { $1 })
            try await eventually("the checks of the database") { doctor.output.contains("read model attendances") }
            #expect(!doctor.output.contains("clock"))
            _ = try await doctor.untilExit()
            #expect(doctor.output.contains("has not compared all events within 10.0 s"), "\(doctor.output)")
            #expect(doctor.output.contains("clock"))
        }
        withExtendedLifetime(server) {}
    }
}
