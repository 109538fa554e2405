import Postgres
import TestDatabase
import Testing

@testable import App
@testable import EventStore

/// What the compiler does not check.
@Suite struct `The list of modules` {
    private static let modules = StoredModule.all

    @Test func `has each name once, of letters that SQL and a stream's name can hold`() {
        let names = [
            Self.modules.map(\.name), Self.modules.domainEvents.map { $0.category },
            Self.modules.projections.map { type(of: $0).name }, Self.modules.idSequences.map(\.name),
        ]
        for names in names { #expect(Set(names).count == names.count, "\(names)") }
        // The first dash ends the category in a stream's name.
        for name in names.dropLast().joined() { #expect(name.wholeMatch(of: /[a-z][a-z0-9_]*/) != nil, "\(name)") }
    }

    @Test func `folds and numbers only categories of the same module`() {
        for module in Self.modules {
            let used = module.projections.map(\.category) + module.idSequences.map(\.category)
            #expect(Set(module.domainEvents.map { $0.category }).isSuperset(of: used), "\(module.name)")
        }
    }

    @Test func `has an erasure for each category that tells about a person, and readable stored types`() {
        let persons = Self.modules.domainEvents.filter { $0.personal.isPerson }.map { $0.category }
        for event in Self.modules.domainEvents {
            let (names, erasure) = (event.storedTypes.map(\.name), StoredType.erasure(of: event.category))
            #expect(!names.isEmpty && Set(names).count == names.count, "\(names)")
            #expect(names.filter(StoredType.isErasure).allSatisfy { $0 == erasure }, "\(names)")
            let streams = event.personal.streams
            #expect(names.contains(erasure) || !event.personal.isPerson && streams == nil, "\(names)")
            #expect(streams.map { persons.contains($0.category) } != false, "\(event.category)")
            for type in event.storedTypes {
                #expect((1...type.currentFormat).contains(type.writtenFormat ?? 1), "\(type.name)")
            }
        }
    }

    @Test(.database) func `names sequences that the migrations create`() async throws {
        try await database.withClient { client in
            let states = try await IDSequence.states(of: Self.modules.idSequences, client: client)
            #expect(states.map(\.last) == Array(repeating: 0, count: Self.modules.idSequences.count))
        }
    }
}
