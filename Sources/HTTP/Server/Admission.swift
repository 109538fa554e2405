public import Hummingbird
internal import Synchronization

/// Counts the requests under way, those aside that are answered at once. Beyond a limit one more would only make all of them later:
/// it is refused at once, before any work is done for it.
public final class Admission: Sendable {
    private let limit: Int
    /// Connections that still stand with requests that are read and not answered. Those that wait for a thread are among them.
    private let waiting = Atomic(0)
    /// Being worked on, for clients that have gone away, too.
    private let running = Atomic(0)
    private let refused = Atomic(0)

    /// - Parameter limit: requests
    public init(limit: Int) { self.limit = limit }

    /// How many were refused so far.
    public var refusals: Int { refused.load(ordering: .relaxed) }
    /// How many are under way.
    public var requests: Int { max(waiting.load(ordering: .relaxed), running.load(ordering: .relaxed)) }

    /// Whether one more may come in. Asked before each, so that a refusal is counted.
    func admits() -> Bool {
        if requests < limit { return true }
        refused.add(1, ordering: .relaxed)
        return false
    }

    func arrives() { waiting.add(1, ordering: .relaxed) }
    func leaves() { waiting.subtract(1, ordering: .relaxed) }

    func run<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        running.add(1, ordering: .relaxed)
        defer { running.subtract(1, ordering: .relaxed) }
        return try await work()
    }
}

/// Counts the requests that are being worked on.
public struct AdmissionResponder<Base: HTTPResponder>: HTTPResponder {
    private let base: Base
    private let admission: Admission

    public init(_ base: Base, _ admission: Admission) {
        self.base = base
        self.admission = admission
    }

    public func respond(to request: Request, context: Base.Context) async throws -> Response {
        try await admission.run { try await base.respond(to: request, context: context) }
    }
}
