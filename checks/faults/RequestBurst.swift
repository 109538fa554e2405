import Foundation
import Synchronization
import TestServer

/// Sign-ups over more simultaneous connections than the writer's queue has room for.
struct RequestBurst: Sendable {
    /// More than the queue's limit, because some requests wait elsewhere in the server. Far fewer than a process's descriptors.
    static let limit = 14_000
    private static let wave = 250
    private static let pauseMicroseconds: UInt32 = 400

    let port: Int
    /// A prefix that makes the devices' tokens unique.
    let name: String

    /// Sends requests until one is refused, then calls `refusal`, which releases the writer, and gathers all responses. Runs on
    /// a thread of its own because it blocks.
    func run(refusal: @escaping @Sendable () -> Void) async throws -> [CommandRecord] {
        Self.raiseDescriptorLimit()
        let (results, continuation) = AsyncThrowingStream.makeStream(of: [CommandRecord].self)
        Thread {
            do {
                continuation.yield(try send(refusal: refusal))
                continuation.finish()
            } catch {
                refusal()
                continuation.finish(throwing: error)
            }
        }.start()
        return try await results.reduce(into: []) { $0 += $1 }
    }

    private func send(refusal: () -> Void) throws -> [CommandRecord] {
        var sockets: [RawConnection] = []
        var answers: [String] = []
        while sockets.count < Self.limit, !answers.suffix(Self.wave).contains(where: { $0.contains(" 503 ") }) {
            for _ in 0..<Self.wave {
                let socket = try RawConnection(port: port)
                sockets.append(socket)
                answers.append("")
                // A listener with a full backlog drops connections, which then wait a second before their next attempt.
                usleep(Self.pauseMicroseconds)
                try socket.send(
                    """
                    POST /v1/users HTTP/1.1\r\nhost: fault-injection\r\ncontent-length: 0\r\ntb-app-secret: \(Fleet.secret)\r
                    tb-device-token: \(token(sockets.count - 1))\r\n\r\n
                    """)
            }
            read(from: sockets, from: sockets.count - Self.wave, &answers)
        }
        refusal()
        let deadline = ContinuousClock.now + .seconds(60)
        while answers.contains(where: { !isWhole($0) }), ContinuousClock.now < deadline {
            read(from: sockets, from: 0, &answers)
            usleep(20_000)
        }
        return answers.indices.map { record($0, answers[$0]) }
    }

    private func token(_ number: Int) -> String { "\(name) \(number)" }

    private func isWhole(_ answer: String) -> Bool { answer.hasSuffix("}") || answer == Self.broken }

    private static let broken = "broken"

    private func read(from sockets: [RawConnection], from first: Int, _ answers: inout [String]) {
        for index in first..<sockets.count where !isWhole(answers[index]) {
            if let text = sockets[index].receiveNow() { answers[index] += text } else { answers[index] = Self.broken }
        }
    }

    private func record(_ number: Int, _ answer: String) -> CommandRecord {
        let user = answer.contains(" 200 ") ? answer.firstMatch(of: /"id":(\d+)/)?.1 : nil
        return CommandRecord(
            name: "request \(number) of \(name)", mark: Mark.device(token(number)), type: "UserCreated",
            stream: user.map { "user-\($0)" }, fate: user == nil ? .unknown : .acknowledged)
    }

    /// Raises the descriptor limit: each connection takes one descriptor here and one in the server, which inherits the limit.
    static func raiseDescriptorLimit() {
        var limit = rlimit()
        #if os(Linux)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 20_000)
        setrlimit(resource, &limit)
    }
}
