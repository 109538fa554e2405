import Foundation
import TestDatabase
import TestServer
import Testing

#if os(Linux)
    /// A file system in memory that only the server and its PostgreSQL see. It disappears with them.
    private struct SmallDisk {
        static let megabytes = 200
        /// A mount needs root, and a container that permits it.
        static let isPossible: Bool = {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
            process.arguments = ["--mount", "sh", "-c", "mount -t tmpfs -o size=1m humon-tests /mnt"]
            process.standardError = FileHandle.nullDevice
            guard geteuid() == 0, (try? process.run()) != nil else { return false }
            while process.endStatus == nil { usleep(10_000) }
            return process.endStatus == 0
        }()

        let directory: URL
        let server: HumonProcess
        private let environment: [String: String]

        init(in directory: URL) throws {
            self.directory = directory
            let disk = directory.appending(path: "disk").path
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
            environment = ["TB_APP_SECRET": HumonProcess.secret, "HUMON_DATA": disk + "/data"]
            let script = """
                mount -t tmpfs -o size=\(Self.megabytes)m,mode=755 humon-tests '\(disk)' && exec '\(HumonProcess.executable.path)' serve
                """
            server = try HumonProcess(
                ["--mount", "--propagation", "private", "sh", "-c", script], in: directory, environment: environment,
                executable: URL(fileURLWithPath: "/usr/bin/unshare"))
        }

        private var filler: String { "/proc/\(server.identifier)/root\(directory.path)/disk/filler" }

        /// Fills the disk to the last byte.
        func fill() throws {
            let file = open(filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            try #require(file >= 0)
            defer { close(file) }
            var bytes = [UInt8](repeating: 1, count: 1 << 20)
            while !bytes.isEmpty {
                if write(file, bytes, bytes.count) < bytes.count { bytes = Array(bytes.dropLast((bytes.count + 1) / 2)) }
            }
            try #require(errno == ENOSPC)
        }

        func free() throws { try FileManager.default.removeItem(atPath: filler) }

        /// Runs a command of humon that sees the disk.
        func humon(_ arguments: [String]) async throws -> HumonProcess.Result {
            try await HumonProcess.run(
                ["--mount", "--target", "\(server.identifier)", "--wd=\(directory.path)", HumonProcess.executable.path]
                    + arguments,
                in: directory, environment: environment, executable: URL(fileURLWithPath: "/usr/bin/nsenter"))
        }
    }

    @Suite struct `A full disk` {
        private static func create(_ base: String, _ number: Int, attempts: Int = 1) async throws -> (status: Int, id: Int?) {
            let headers = [("tb-device-token", "phone"), ("content-type", "application/json")]
            let body = #"{"name":"Party \#(number)","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z"}"#
            let answer = try await exchange("POST", base + "/v1/events", headers: headers, body: body, attempts: attempts)
            return (answer.status, answer.body.firstMatch(of: /"id":(\d+)/).flatMap { Int($0.1) })
        }

        @Test(.directory, .enabled(if: SmallDisk.isPossible, "root can mount here"))
        func `a full disk refuses writes with 503, loses no acknowledged write, and accepts writes again later`()
            async throws
        {
            let disk = try SmallDisk(in: directory)
            let result: Result<Void, any Error>
            do { result = .success(try await Self.use(disk)) } catch { result = .failure(error) }
            _ = try? await disk.server.stop()
            try result.get()
        }

        private static func use(_ disk: SmallDisk) async throws {
            let base = "http://127.0.0.1:\(try await disk.server.port())"
            let headers = [("tb-app-secret", HumonProcess.secret), ("tb-device-token", "phone")]
            #expect(try await exchange("POST", base + "/v1/users", headers: headers).status == 200)
            var acknowledged: Set<Int> = []
            for number in 0..<10 { acknowledged.insert(try #require(try await create(base, number, attempts: 30).id)) }

            try disk.fill()
            var refused = 0
            for number in 10..<5_000 where refused < 20 {
                let (status, id) = try await create(base, number)
                if status == 503 { refused += 1 } else { #expect(status == 200) }
                if let id { acknowledged.insert(id) }
            }
            #expect(refused == 20)
            for id in acknowledged {
                #expect(try await exchange("GET", base + "/v1/events/\(id)").status == 200, "lost write: event \(id)")
            }

            try disk.free()
            try await eventually("a write when there is room again") {
                let (status, id) = try await create(base, 5_000)
                if let id { acknowledged.insert(id) }
                return status == 200
            }
            for id in acknowledged {
                #expect(try await exchange("GET", base + "/v1/events/\(id)").status == 200, "lost write: event \(id)")
            }
            for arguments in [["log", "verify"], ["projections", "verify", "--all"]] {
                try await disk.humon(arguments).succeeded()
            }
            let recorded = try await disk.humon(["log", "stats", "--json"])
            let count = try #require(
                recorded.output.firstMatch(of: /"type":"EventCreated"[^\n]*"events":(\d+)/).flatMap { Int($0.1) })
            #expect(count >= acknowledged.count)
        }
    }
#endif
