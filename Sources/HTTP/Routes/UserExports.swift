internal import HTTPServer
internal import HTTPTypes
internal import Synchronization
internal import Users

/// The exports that run in this process: one of a user at a time, and few together, because each reads all that the user ever wrote.
final class UserExports: Sendable {
    /// Maximum number of exports at a time.
    static let limit = 4
    /// A slow client would keep others waiting.
    private static let timeLimit = Duration.seconds(300)
    /// Seconds after which a user with an export may ask for another one.
    private static let retrySeconds = 10

    private let running = Mutex<Set<UserID>>([])

    /// The permission for one export. It counts while the slot is in memory.
    final class Slot: Sendable {
        private let exports: UserExports
        private let user: UserID

        fileprivate init(_ exports: UserExports, _ user: UserID) { (self.exports, self.user) = (exports, user) }

        deinit { exports.running.withLock { _ = $0.remove(user) } }
    }

    /// - Throws: 429 if an export of the user runs, `HTTPError.overloaded` if too many run
    func begin(_ user: UserID) throws(HTTPError) -> Slot {
        try running.withLock { running throws(HTTPError) in
            guard !running.contains(user) else {
                throw HTTPError(.tooManyRequests, "Too Many Requests", headers: [.retryAfter: String(Self.retrySeconds)])
            }
            guard running.count < Self.limit else { throw .overloaded }
            running.insert(user)
        }
        return Slot(self, user)
    }

    /// A stream with everything that is stored of a user. A node that stops or fails in the middle breaks the connection off.
    /// - Throws: as ``begin(_:)``, and the errors of `UsersModule.streams(of:)`
    func response(_ user: UserID, from users: UsersModule) async throws -> Response {
        let slot = try begin(user)
        let streams = try await users.streams(of: user)
        let stream = ResponseStream(user: String(user.rawValue)) { writer in
            let export = Task {
                let deadline = ContinuousClock.now + Self.timeLimit
                do {
                    try await users.export(streams) { lines in
                        let text = lines.map { $0 + "\n" }.joined()
                        guard ContinuousClock.now < deadline, await writer.writeAtPaceOfClient(Array(text.utf8)) else {
                            throw CancellationError()
                        }
                    }
                    writer.finish()
                } catch {
                    writer.abort()
                }
                withExtendedLifetime(slot) {}
            }
            writer.onClose { export.cancel() }
        }
        return Response(headers: [.contentType: "application/json; charset=utf-8", .xAccelBuffering: "no"], stream: stream)
    }
}
