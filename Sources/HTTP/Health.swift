internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import Notation

/// Whether a node is to be sent requests, and what that depends on.
struct Health: Sendable {
    enum Status: String, Sendable {
        case ok
        /// Reads go on, from memory, which may not be the newest; writes may not.
        case degraded
        /// The memory is being filled.
        case starting
        case unavailable
    }

    var isDatabaseThere: Bool
    var memory: MemoryStatus.Phase
    /// Whether what it holds may not be the newest.
    var isMemoryStale: Bool

    var status: Status {
        switch memory {
        case .filling: .starting
        case .inUse: isDatabaseThere && !isMemoryStale ? .ok : .degraded
        case .off, .tooSmall, .interrupted: isDatabaseThere ? .ok : .unavailable
        }
    }

    /// A node that was cut off from PostgreSQL is still good for reading, and as good as any other: so it is not taken out.
    var isReady: Bool {
        switch status {
        case .ok, .degraded: true
        case .starting, .unavailable: false
        }
    }

    var response: Response {
        var response = Response(
            status: isReady ? .ok : .serviceUnavailable,
            json: [
                "status": .string(status.rawValue), "database": .string(isDatabaseThere ? "ok" : "away"),
                "memory": .string(memory.rawValue),
            ])
        if !isReady { response.headers[.retryAfter] = String(Refusal.retryAfterSeconds) }
        return response
    }
}

extension API {
    func health() async -> Health {
        let isDatabaseThere = (try? await checkHealth()) != nil
        let memory = events.memoryStatus
        return Health(isDatabaseThere: isDatabaseThere, memory: memory.phase, isMemoryStale: memory.isStale)
    }
}
