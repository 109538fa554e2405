import Encoding
import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

/// Three releases with one domain event: before format 2, reading format 2, writing format 2.
private enum Soup {
    enum Old: DomainEvent {
        case cooked(litres: Int64)
        static let category = "soup"
        static let storedTypes = [StoredType("SoupCooked")]
        static let personal = PersonalMembers.none
        init(type: String, content: EventContent) throws {
            self = .cooked(litres: try content.facts.stored("litres", \.storedInteger))
        }
        var stored: (type: String, data: JSON) {
            switch self {
            case .cooked(let litres): ("SoupCooked", ["litres": JSON(litres)])
            }
        }
    }

    static let upcasters: [@Sendable (EventContent) throws -> EventContent] = [
        { EventContent(["millilitres": JSON(try $0.facts.stored("litres", \.storedInteger) * 1_000)]) }
    ]

    enum Reading: DomainEvent {
        case cooked(millilitres: Int64)
        static let category = "soup"
        static let storedTypes = [
            StoredType("SoupCooked", upcasters: upcasters, writing: .format(1)), StoredType("SoupEaten", writing: .nothing),
        ]
        static let personal = PersonalMembers.none
        init(type: String, content: EventContent) throws {
            self = .cooked(millilitres: try content.facts.stored("millilitres", \.storedInteger))
        }
        var stored: (type: String, data: JSON) {
            switch self {
            case .cooked(let millilitres): ("SoupCooked", ["litres": JSON(millilitres / 1_000)])
            }
        }
    }

    enum Writing: DomainEvent {
        case cooked(millilitres: Int64)
        static let category = "soup"
        static let storedTypes = [StoredType("SoupCooked", upcasters: upcasters), StoredType("SoupEaten")]
        static let personal = PersonalMembers.none
        init(type: String, content: EventContent) throws {
            self = .cooked(millilitres: try content.facts.stored("millilitres", \.storedInteger))
        }
        var stored: (type: String, data: JSON) {
            switch self {
            case .cooked(let millilitres): ("SoupCooked", ["millilitres": JSON(millilitres)])
            }
        }
    }
}

extension AppendRequest {
    fileprivate static func cooking(_ pot: String, _ soup: any DomainEvent) -> AppendRequest {
        AppendRequest(
            id: UUID(), streams: [StreamAppend([soup], to: StreamName(category: "soup", key: pot), after: 0)],
            recordedAt: Timestamp(milliseconds: 0), metadata: Metadata(requestID: "test", actor: 7, traceID: nil))
    }
}

@Suite struct `Deploying a change of a stored format` {
    private static let readFirst = FormatConflict(writer: .thisProgram, type: "SoupCooked", format: 2, readable: 1)

    private static func withRegistry(
        _ database: TestDatabase, _ domainEvent: any DomainEvent.Type, isPooled: Bool,
        _ body: @escaping @Sendable (FormatRegistry, PostgresClient) async throws -> Void
    ) async throws {
        var configuration = database.configuration(role: "log_app", connections: 3)
        configuration.isPooled = isPooled
        try await withPostgres(configuration, logger: .quiet) { client in
            try await body(FormatRegistry(ProgramFormats(of: [domainEvent]), client: client), client)
        }
    }

    /// Runs the format registry as a server of that release does.
    private static func serving(
        _ database: TestDatabase, _ domainEvent: any DomainEvent.Type, isPooled: Bool = false,
        _ body: @escaping @Sendable (PostgresClient) async throws -> Void
    ) async throws {
        try await withRegistry(database, domainEvent, isPooled: isPooled) { registry, client in
            try await registry.prepare()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await FormatService(registry, logger: .quiet).run() }
                defer { group.cancelAll() }
                let visitor = FormatRegistry(ProgramFormats(of: [Counted.self]), client: client)
                try await eventually { try await visitor.serving().contains(registry.program) }
                try await body(client)
            }
        }
        // PostgreSQL ends a session a moment after its client.
        try await withRegistry(database, Counted.self, isPooled: false) { visitor, _ in
            try await eventually { try await !visitor.serving().contains(ProgramFormats(of: [domainEvent])) }
        }
    }

    private static func preparing(_ database: TestDatabase, _ domainEvent: any DomainEvent.Type) async throws {
        try await withRegistry(database, domainEvent, isPooled: false) { registry, _ in try await registry.prepare() }
    }

    @Test(arguments: [false, true])
    func `a deploy succeeds if every server reads the new format before one writes it`(isPooled: Bool) async throws {
        try await TestDatabase.with { database in
            try await Self.serving(database, Soup.Old.self, isPooled: isPooled) { old in
                try await Self.serving(database, Soup.Reading.self, isPooled: isPooled) { reading in
                    try await Self.append(.cooking("a", Soup.Old.cooked(litres: 2)), old)
                    try await Self.append(.cooking("b", Soup.Reading.cooked(millilitres: 3_000)), reading)
                }
            }
            try await Self.serving(database, Soup.Reading.self, isPooled: isPooled) { reading in
                try await Self.serving(database, Soup.Writing.self, isPooled: isPooled) { writing in
                    try await Self.append(.cooking("c", Soup.Writing.cooked(millilitres: 1_500)), writing)
                    let recorded = try await LogReader(client: reading).read(after: 0, limit: 10)
                    #expect(recorded.map(\.envelope.event.format) == [1, 1, 2])
                    let soups = try recorded.map { try $0.decoded(as: Soup.Reading.self).event.millilitres }
                    #expect(soups == [2_000, 3_000, 1_500])
                }
            }
        }
    }

    private static func append(_ append: AppendRequest, _ client: PostgresClient) async throws {
        try await TestStore.withLog(client, projections: []) { _ = try await $0.append(append) }
    }

    @Test(arguments: [false, true])
    func `a program that writes a new format is refused while a server runs that cannot read it`(isPooled: Bool) async throws {
        try await TestDatabase.with { database in
            try await Self.serving(database, Soup.Old.self, isPooled: isPooled) { _ in
                await #expect(throws: Self.readFirst) { try await Self.preparing(database, Soup.Writing.self) }
            }
            // Once no such server is left, the program may start.
            try await Self.preparing(database, Soup.Writing.self)
        }
    }

    @Test func `an old server is refused beside a server that writes the new format`() async throws {
        try await TestDatabase.with { database in
            try await Self.serving(database, Soup.Writing.self) { _ in
                await #expect(
                    throws: FormatConflict(writer: .another, type: "SoupCooked", format: 2, readable: 1)
                ) { try await Self.preparing(database, Soup.Old.self) }
            }
        }
    }

    @Test func `a starting server ends if a server with a conflicting format registered first`() async throws {
        try await TestDatabase.with { database in
            try await Self.withRegistry(database, Soup.Writing.self, isPooled: false) { writing, _ in
                try await writing.prepare()
                try await Self.serving(database, Soup.Old.self) { _ in
                    await #expect(throws: Self.readFirst) { try await FormatService(writing, logger: .quiet).run() }
                }
            }
        }
    }

    @Test(arguments: [false, true])
    func `of two conflicting servers that start together, one ends and one serves`(isPooled: Bool) async throws {
        try await TestDatabase.with { database in
            for _ in 0..<10 {
                try await Self.withRegistry(database, Soup.Old.self, isPooled: isPooled) { old, _ in
                    try await Self.withRegistry(database, Soup.Writing.self, isPooled: isPooled) { writing, client in
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            for registry in [old, writing] {
                                group.addTask { try await FormatService(registry, logger: .quiet).run() }
                            }
                            defer { group.cancelAll() }
                            await #expect(throws: FormatConflict.self) { try await group.next() }
                            let visitor = FormatRegistry(ProgramFormats(of: [Counted.self]), client: client)
                            try await eventually("one version that serves") { try await visitor.serving().count == 1 }
                        }
                    }
                }
                // PostgreSQL ends a session a moment after its client.
                try await Self.withRegistry(database, Counted.self, isPooled: false) { visitor, _ in
                    try await eventually("an end of both") { try await visitor.serving().isEmpty }
                }
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

extension Soup.Reading {
    fileprivate var millilitres: Int64 {
        switch self {
        case .cooked(let millilitres): millilitres
        }
    }
}
