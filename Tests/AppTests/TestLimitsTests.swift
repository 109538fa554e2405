import Foundation
import Testing

@testable import TestDatabase

/// What ends a test that would wait for ever.
@Suite struct `The limits of a test` {
    @Test func `a test that holds a database, a process or a browser for too long is cancelled and fails`() async {
        let capacity = Capacity("cups", rank: 9, limit: 1, time: .milliseconds(100))
        // A task of its own, because the task of the caller is cancelled.
        let result = await Task { try await capacity.use { try await Task.sleep(for: .seconds(600)) } }.result
        let error = #expect(throws: TimeoutError.self) { try result.get() }
        #expect(error?.description == "the test held cups for 0.1 seconds and was cancelled")
        // Another test gets it afterwards.
        await #expect(throws: Never.self) { try await capacity.use {} }
    }

    @Test func `a process that does not end in time is killed`() async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sleep")
        process.arguments = ["600"]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        #expect(process.endStatus == nil)
        await #expect(throws: TimeoutError.self) { try await process.untilEnd(within: .milliseconds(50)) }
        try await eventually("the end of the process") { process.endStatus == SIGKILL }
    }
}
