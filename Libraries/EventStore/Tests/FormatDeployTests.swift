import Encoding
import Postgres
import TestDatabase
import Testing

@testable import EventStore

/// Two releases with one domain event: before format 2, and writing format 2.
private enum Soup {
    enum Old: DomainEvent {
        case cooked
        static let category = "soup"
        static let storedTypes = [StoredType("SoupCooked")]
        static let personal = PersonalMembers.none
        init(type: String, content: EventContent) { self = .cooked }
        var stored: (type: String, data: JSON) { ("SoupCooked", [:]) }
    }

    enum Writing: DomainEvent {
        case cooked
        static let category = "soup"
        static let storedTypes = [StoredType("SoupCooked", upcasters: [{ $0 }]), StoredType("SoupEaten")]
        static let personal = PersonalMembers.none
        init(type: String, content: EventContent) { self = .cooked }
        var stored: (type: String, data: JSON) { ("SoupCooked", [:]) }
    }
}

@Suite struct `Deploying a change of a stored format` {
    private static let readFirst = FormatConflict(writer: .thisProgram, type: "SoupCooked", format: 2, readable: 1)

    private static func withPresence(
        _ database: TestDatabase, _ domainEvent: any DomainEvent.Type, isPooled: Bool,
        _ body: @escaping @Sendable (RunningPrograms, PostgresClient) async throws -> Void
    ) async throws {
        var configuration = database.configuration(role: "log_app", connections: 3)
        configuration.isPooled = isPooled
        try await withPostgres(configuration, logger: .quiet) { client in
            try await body(RunningPrograms(ProgramFormats(of: [domainEvent]), client: client, logger: .quiet), client)
        }
    }

    @Test(.database, arguments: [false, true])
    func `of two conflicting servers that start together, one ends and one serves`(isPooled: Bool) async throws {
        for _ in 0..<10 {
            try await Self.withPresence(database, Soup.Old.self, isPooled: isPooled) { old, _ in
                try await Self.withPresence(database, Soup.Writing.self, isPooled: isPooled) { writing, client in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for programs in [old, writing] {
                            group.addTask { try await programs.run() }
                        }
                        defer { group.cancelAll() }
                        await #expect(throws: FormatConflict.self) { try await group.next() }
                        let visitor = RunningPrograms(ProgramFormats(of: [Counted.self]), client: client, logger: .quiet)
                        try await eventually("one version that serves") { try await visitor.serving().count == 1 }
                    }
                }
            }
            // PostgreSQL ends a session a moment after its client.
            try await Self.withPresence(database, Counted.self, isPooled: false) { visitor, _ in
                try await eventually("an end of both") { try await visitor.serving().isEmpty }
            }
        }
    }

    @Test func `the refusal says which step of the deploy is missing`() {
        #expect(
            Self.readFirst.description == """
                This program writes SoupCooked in format 2, and a server that runs now reads it up to format 1. First replace every \
                server by a release that reads this format and does not write it yet; then start this program.
                """)
        #expect(
            FormatConflict(writer: .another, type: "SoupEaten", format: 1, readable: 0).description == """
                A server that runs now writes SoupEaten in format 1, and this program does not know SoupEaten. Start a release that \
                reads this format.
                """)
    }

    @Test func `a program without the module does not conflict with its formats`() {
        let (old, writing) = (ProgramFormats(of: [Counted.self]), ProgramFormats(of: [Counted.self, Soup.Writing.self]))
        #expect(FormatConflict(of: writing, with: [old]) == nil)
        #expect(FormatConflict(of: old, with: [writing]) == nil)
        #expect(FormatConflict(of: ProgramFormats(of: [Soup.Writing.self]), with: [ProgramFormats(of: [Soup.Old.self])]) != nil)
    }
}
