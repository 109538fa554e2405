internal import Attendances
internal import EventStore
internal import Events
internal import HTTP
internal import Synchronization
internal import Users

extension Backend {
    /// The demo recognises its own recorded events by this request id.
    static let demoContext = CommandContext(requestID: "demo")

    /// The number of guests of whom one leaves the event again.
    private static let leavesOneIn = 10

    /// Signs up new users with new devices.
    /// - Throws: the errors of the module Users and of the log
    func signUp(_ count: Int) async throws -> [UserID] {
        let ids = Mutex<[UserID]>([])
        try await concurrently(count) { _ in
            let (id, _, _) = try await modules[UsersModule.self].signUp(with: nil, context: Self.demoContext)
            ids.withLock { $0.append(id) }
        }
        return ids.withLock { $0 }
    }

    /// Creates the event, and lets some of the hosts attend it and few of them leave it.
    /// - Throws: the errors of the modules and of the log
    func host(_ gathering: DemoWorld.Gathering, by hosts: [UserID]) async throws {
        let owner = hosts[gathering.host % hosts.count]
        let (event, _) = try await modules[EventsModule.self].create(
            gathering.details, by: owner, context: Self.demoContext)
        for offset in 0..<gathering.attendees {
            let guest = hosts[(gathering.host + offset * 7 + 1) % hosts.count]
            let attendances = modules[AttendancesModule.self]
            try await attendances.attend(event, by: guest, context: Self.demoContext)
            guard (gathering.host + offset).isMultiple(of: Self.leavesOneIn) else { continue }
            try await attendances.leave(event, by: guest, context: Self.demoContext)
        }
    }
}
