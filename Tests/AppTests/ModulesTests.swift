import EventStore
import Postgres
import TestDatabase
import Testing

@testable import App

@Suite struct `The list of modules` {
    @Test func `can work`() throws {
        try ModuleRegistration.check(Modules.registered)
    }

    @Test func `names sequences that the migrations create`() async throws {
        try await TestDatabase.with { database in
            try await database.withClient { client in
                let states = try await IDSequence.states(of: Modules.registered.idSequences, client: client)
                #expect(states.map(\.last) == Array(repeating: 0, count: Modules.registered.idSequences.count))
            }
        }
    }
}
