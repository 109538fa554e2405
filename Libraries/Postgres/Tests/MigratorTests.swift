import Postgres
import TestDatabase
import Testing

@Suite struct `Databases without UTF-8` {
    /// Creates a database of this name with a statement that names it `name`, runs the body with a client, and drops the database.
    private static func with(
        _ name: String, from statement: String, _ body: @Sendable (PostgresClient) async throws -> Void
    ) async throws {
        try await TestDatabase.with(migrated: false) { database in
            try await database.asSuperuser(SQL(unsafeText: statement.replacing("DATABASE name", with: "DATABASE \(name)")))
            let url = database.url.replacing(/dbname='?[a-z_0-9]+'?/, with: "dbname=\(name)")
            let result: Result<Void, any Error>
            do {
                result = .success(try await withPostgres(PostgresConfiguration(url: url), logger: .quiet, body))
            } catch { result = .failure(error) }
            try await database.asSuperuser(SQL(unsafeText: "DROP DATABASE \(name) WITH (FORCE)"))
            try result.get()
        }
    }

    @Test func `are refused before the first statement, and the advice makes one with UTF-8`() async throws {
        try await Self.with("latin", from: "CREATE DATABASE name ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0") { client in
            let migrator = Migrator(migrations: [], client: client)
            await #expect(throws: MigrationError.notUTF8(encoding: "LATIN1")) { try await migrator.pending() }
            await #expect(throws: MigrationError.notUTF8(encoding: "LATIN1")) { try await migrator.migrate() }
            let schemas = try await client.query("SELECT nspname::text FROM pg_namespace WHERE nspname = 'humon'").decode(
                String.self)
            #expect(schemas.isEmpty)
        }
        let advice = MigrationError.notUTF8(encoding: "LATIN1").description
        let statement = try #require(advice.firstMatch(of: /\((CREATE DATABASE name .*)\)/)).1
        try await Self.with("advised", from: String(statement)) { client async throws in
            #expect(try await Migrator(migrations: [], client: client).migrate() == [])
        }
    }
}

@Suite struct `Migrating a database` {
    private static let teas = Migration(name: "0001_teas", sql: "CREATE TABLE public.teas (name text);")
    private static let prices = Migration(
        name: "0002_prices", sql: "ALTER TABLE public.teas ADD price integer; CREATE TABLE public.prices ();")
    private static let origins = Migration(name: "0003_origins", sql: "ALTER TABLE public.teas ADD origin text;")

    @Test(.client())
    func `migrations are applied once, in the order of their names, and recorded with the checksum of their texts`()
        async throws
    {
        #expect(try await migrate([Self.teas], client) == names(Self.teas))
        let recorded = try await client.query("SELECT name, checksum FROM humon.migrations").decode((String, String).self)
        #expect(recorded.map(\.0) == ["0001_teas"])
        // Computed by: printf 'CREATE TABLE public.teas (name text);' | sha256sum
        #expect(recorded.map(\.1) == ["efb0f8d22f24222610721ebe19aebfa3be4a4e6f885241bf79792c642f44b042"])
        let all = [Self.origins, Self.teas, Self.prices]
        #expect(try await migrate(all, client) == names(Self.prices, Self.origins))
        #expect(try await migrate(all, client) == [])
        #expect(try await columns(client) == ["name", "price", "origin"])
    }

    @Test(.client()) func `pending migrations are listed without a change to the database`() async throws {
        let migrator = Migrator(migrations: [Self.teas, Self.prices], client: client)
        #expect(try await migrator.pending() == names(Self.teas, Self.prices))
        #expect(try await client.query("SELECT 1 FROM pg_namespace WHERE nspname = 'humon'").isEmpty)
        _ = try await migrate([Self.teas], client)
        #expect(try await migrator.pending() == names(Self.prices))
        _ = try await migrator.migrate()
        #expect(try await migrator.pending() == [])
    }

    @Test(.client())
    func `functions run every time, after the migrations, and are listed if their text is another one`() async throws {
        var functions = Migration(name: "functions_0001", sql: "INSERT INTO public.teas VALUES ('again');")
        func migrator() -> Migrator { Migrator(migrations: [Self.teas], functions: functions, client: client) }
        #expect(try await migrator().pending() == ["0001_teas", "functions_0001"])
        #expect(try await migrator().migrate() == ["0001_teas", "functions_0001"])
        #expect(try await migrator().migrate() == [])
        #expect(try await client.query("SELECT name FROM teas").count == 2)
        functions.sql += " -- only a comment"
        #expect(try await migrator().pending() == ["functions_0001"])
        #expect(try await migrator().migrate() == ["functions_0001"])
        #expect(try await migrator().pending() == [])
    }

    @Test(.client()) func `functions that fail take back the last migration, with which they are one transaction`() async throws {
        let functions = Migration(name: "functions_0001", sql: "INSERT INTO public.coffees VALUES ('again');")
        try await expectFailure(
            migrating: [Self.teas, Self.prices], functions: functions, client,
            "Migration functions_0001 failed and was rolled back: relation \"public.coffees\" does not exist")
        #expect(try await columns(client) == ["name"])
    }

    @Test(.client()) func `a program replaces the functions of an older one, and leaves those of a newer one alone`() async throws
    {
        func functions(_ number: Int) -> Migration {
            let sql = "CREATE OR REPLACE FUNCTION public.number() RETURNS integer LANGUAGE sql AS 'SELECT \(number)';"
            return Migration(name: "functions_000\(number)", sql: sql, oldestProgram: Self.teas.name)
        }
        for (program, applied, found) in [
            (1, ["0001_teas", "functions_0001"], 1), (2, ["functions_0002"], 2), (1, [], 2), (3, ["functions_0003"], 3),
        ] as [(Int, [String], Int32)] {
            let migrator = Migrator(migrations: [Self.teas], functions: functions(program), client: client)
            #expect(try await migrator.migrate() == applied)
            #expect(try await migrator.pending() == [])
            #expect(try await client.query("SELECT number()").column(Int32.self) == [found])
        }
    }

    @Test(.client()) func `changed texts, unknown migrations and new ones before applied ones are refused`() async throws {
        _ = try await migrate([Self.teas, Self.origins], client)
        var changed = Self.teas
        changed.sql += " -- only a comment"
        try await expectFailure(
            migrating: [changed, Self.origins], client,
            """
            Migration 0001_teas of this database has another text than that of this program, as in a database from before \
            the first release: nothing was changed. Run the version that made the database. To bring its data over, export them with \
            that version, and import them into a new database with this one.
            """)
        try await expectFailure(
            migrating: [Self.teas], client,
            "Migration 0003_origins was applied to this database but this program does not know it: run a newer program.")
        try await expectFailure(
            migrating: [Self.teas, Self.prices, Self.origins], client,
            "Migration 0002_prices is not applied but the later 0003_origins is: number a new migration after all older ones."
        )
        #expect(try await columns(client) == ["name", "origin"])
    }

    @Test(.client())
    func `a program runs on a database with newer migrations that allow it, and changes nothing there`() async throws {
        var newer = Self.prices
        newer.oldestProgram = Self.teas.name
        _ = try await migrate([Self.teas, newer], client)
        let functions = Migration(name: "functions_0001", sql: "INSERT INTO public.teas VALUES ('from an older program');")
        let older = Migrator(migrations: [Self.teas], functions: functions, client: client)
        #expect(try await older.pending() == [])
        #expect(try await older.migrate() == [])
        #expect(try await client.query("SELECT name FROM teas").isEmpty)
    }

    @Test(.client()) func `a migration that fails is rolled back, those before it stay, and the run stops`() async throws {
        let failing = Migration(name: "0002_failing", sql: "CREATE TABLE public.halves (); SELECT * FROM public.coffees;")
        try await expectFailure(
            migrating: [Self.teas, failing, Self.origins], client,
            "Migration 0002_failing failed and was rolled back: relation \"public.coffees\" does not exist")
        #expect(try await columns(client) == ["name"])
        #expect(try await client.query("SELECT name FROM humon.migrations").column(String.self) == ["0001_teas"])
        #expect(try await client.query("SELECT 1 FROM pg_tables WHERE tablename = 'halves'").isEmpty)
    }

    @Test(.client(configure: { $0.statementTimeoutSeconds = 0.5 }))
    func `a migration may run longer than the statement time-out`() async throws {
        let slow = Migration(name: "0001_slow", sql: "SELECT pg_sleep(1.8);")
        #expect(try await migrate([slow], client) == names(slow))
    }

    @Test(.database) func `two concurrent runs apply each migration once`() async throws {
        let migrations = [Self.teas, Self.prices, Self.origins]
        let applied = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await database.withClient { client in
                        try await Migrator(migrations: migrations, client: client).migrate()
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(applied.sorted() == migrations.map(\.name))
    }

    private func migrate(_ migrations: [Migration], _ client: PostgresClient) async throws -> [String] {
        try await Migrator(migrations: migrations, client: client).migrate()
    }

    private func names(_ migrations: Migration...) -> [String] { migrations.map(\.name) }

    private func columns(_ client: PostgresClient) async throws -> [String] {
        try await client.query(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'teas'::regclass AND attnum > 0 ORDER BY attnum"
        )
        .column(String.self)
    }

    private func expectFailure(
        migrating migrations: [Migration], functions: Migration? = nil, _ client: PostgresClient, _ sentence: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let error = await #expect(throws: MigrationError.self, sourceLocation: sourceLocation) {
            try await Migrator(migrations: migrations, functions: functions, client: client).migrate()
        }
        #expect(error?.description == sentence, sourceLocation: sourceLocation)
    }
}
