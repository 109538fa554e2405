import Foundation
import TestDatabase
import TestServer
import Testing

@testable import App

@Suite struct `The time limits of the doctor` {
    /// A socket that accepts connections and never answers while the body runs. Afterwards its port refuses connections.
    private final class SilentServer {
        private let descriptor: Int32
        let port: Int

        init() throws {
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let (descriptor, size) = (descriptor, length)
            let isListening = withUnsafeMutableBytes(of: &address) { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) {
                    bind(descriptor, $0.baseAddress, size) == 0 && listen(descriptor, 16) == 0
                        && getsockname(descriptor, $0.baseAddress, &length) == 0
                }
            }
            try #require(isListening)
            port = Int(in_port_t(bigEndian: address.sin_port))
        }

        func stop() { close(descriptor) }
    }

    @Test func `a server that does not answer delays only its own check`() async throws {
        let server = try SilentServer()
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
        server.stop()
    }

    @Test func `a check ends at its deadline`() async throws {
        await #expect(throws: Deadline.Exceeded.self) {
            try await Deadline.run(within: 0.05) { try await Task.sleep(for: .seconds(600)) }
        }
        #expect(try await Deadline.run(within: 600) { 7 } == 7)
        #expect(Deadline.Exceeded(seconds: 10).description == "no answer within 10.0 s")
    }
}
