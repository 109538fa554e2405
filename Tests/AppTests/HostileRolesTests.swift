import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

/// A login with each role of Humon attacks a database that `deploy/postgres/roles` made. Then the owner does an operator's work.
@Suite struct `Hostile logins with the roles of the application and of the reader` {
    /// Of the application's rights; of the reader's, as docs/operating.md gives them to an operator.
    private static let (application, reader) = ("mallory", "night_shift")

    /// What neither may do: have a place for objects of its own, reach what the owner uses, or choose a name that the owner trusts.
    private static let refusedToBoth =
        ["humon_owner", "mine", "humon_v1"].map { "CREATE SCHEMA \($0)" }
        + ["humon", "log", "events_v1", "users_v1"].flatMap { schema in
            [
                "CREATE TABLE \(schema).mine ()", "ALTER SCHEMA \(schema) RENAME TO mine", "DROP SCHEMA \(schema) CASCADE",
                "CREATE FUNCTION \(schema).format(text, name) RETURNS text LANGUAGE sql AS 'SELECT $1'",
            ]
        }
        + ["log.recorded_events", "events_v1.events"].flatMap { table in
            [
                "CREATE TRIGGER mine BEFORE INSERT ON \(table) EXECUTE FUNCTION public.trap()",
                "CREATE RULE mine AS ON INSERT TO \(table) DO INSTEAD NOTHING", "ALTER TABLE \(table) ADD COLUMN mine text",
                "CREATE INDEX ON \(table) ((public.trap(1)))", "CREATE POLICY mine ON \(table) USING (public.trap(1) > 0)",
                "TRUNCATE \(table)", "LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE",
            ]
        }
        + ["humon", "log", "humon_owner", "public", "events_v1"].map {
            "INSERT INTO log.read_models (schema, position) VALUES ('\($0)', 0)"
        }
        + ["UPDATE", "DELETE"].map { "\($0) \($0 == "UPDATE" ? "log.read_models SET schema = 'humon'" : "FROM log.read_models")" }
        + ["INSERT INTO log.projections VALUES ('mine', 1, 'SELECT public.trap(1)', '')"]
        + ["humon", "log", "public", "mine_v1", "humon_owner"].flatMap {
            ["SELECT log.create_read_model('\($0)')", "SELECT log.drop_read_model('\($0)')"]
        }
        + ["SELECT log.rename_read_model('events_v1', 'humon')", "SELECT log.rename_read_model('humon', 'events_v1_replaced')"]
        + ["log.append_lock", "humon.migrations", "log.read_models"].map { "LOCK TABLE \($0) IN SHARE UPDATE EXCLUSIVE MODE" }
        + ["CREATE OR REPLACE FUNCTION log.tail() RETURNS bigint LANGUAGE sql AS 'SELECT 7::bigint'", "SET ROLE humon_owner"]

    /// Locks for which appends, servers or rebuilds wait.
    private static let refusedToReader = [
        "SELECT log.lock()", "SELECT log.lock_names()", "SELECT log.lock_read_models('{events_v1}')",
        "SELECT pg_advisory_lock(x'0068756d6f6e01'::bigint)", "SELECT pg_try_advisory_lock_shared(1, 2)",
        "SELECT pg_advisory_xact_lock(x'68756d6f'::integer, hashtext('events_v1'))",
        "LOCK TABLE log.recorded_events IN ROW SHARE MODE",
        "SELECT log.create_read_model('events_v1')", "SELECT value FROM log.pepper",
    ]

    /// Functions and operators that fit the statements of the owner as well as those of PostgreSQL, or better. In a database from before
    /// PostgreSQL 15, and in this test, every role may place them in `public`.
    private static let traps = """
        CREATE FUNCTION public.trap(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS
            'BEGIN RAISE ''the trap of %'', current_user; END';
        CREATE FUNCTION public.trap() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''the trap of %'', current_user; END';
        DO $$
        DECLARE
            signature text;
            pair text;
        BEGIN
            FOREACH signature IN ARRAY '{"format(text, name)","format(text, text)","format(text, regprocedure)","encode(bytea, unknown)",
                "sha256(text)","to_regclass(name)","to_regnamespace(name)","quote_ident(name)","has_function_privilege(text, oid, text)",
                "pg_has_role(name, text, text)","current_setting(name)","set_config(name, text, boolean)","max(integer)","unnest(name[])",
                "hashtext(name)","left(text, bigint)","cardinality(text[])","coalesce_text(text)","has_schema_privilege(text, oid, text)",
                "has_table_privilege(text, oid, text)","array_lower(uuid[], integer)","split_part(text, text, bigint)"}'::text[]
            LOOP
                BEGIN
                    EXECUTE format('CREATE FUNCTION public.%s RETURNS text LANGUAGE plpgsql AS %L', signature,
                        'BEGIN RAISE ''the trap of %'', current_user; END');
                EXCEPTION WHEN others THEN NULL;
                END;
            END LOOP;
            FOREACH pair IN ARRAY '{"name varchar","text varchar","varchar text","integer numeric","text regclass","oid bigint"}'::text[] LOOP
                EXECUTE format('CREATE FUNCTION public.trap(%s, %s) RETURNS boolean LANGUAGE plpgsql AS %L', split_part(pair, ' ', 1),
                    split_part(pair, ' ', 2), 'BEGIN RAISE ''the trap of %'', current_user; END');
                EXECUTE format('CREATE OPERATOR public.= (LEFTARG = %s, RIGHTARG = %s, FUNCTION = public.trap)', split_part(pair, ' ', 1),
                    split_part(pair, ' ', 2));
            END LOOP;
        END
        $$;
        """

    private static func withDeployment(_ body: (TestPostgres, URL) async throws -> Void) async throws {
        try await HumonProcess.withDirectory { directory in
            let postgres = try await TestPostgres(
                in: directory.appending(path: "postgres").path, settings: TestPostgres.unsafeSettings)
            defer { postgres.remove() }
            for name in ["owner", "server", "backup", "monitor"] {
                try "secret".write(to: directory.appending(path: "\(name)_password"), atomically: true, encoding: .utf8)
            }
            try await TestProgram.run(
                "/usr/bin/env",
                [
                    "SECRETS=\(directory.path)", "bash", Repository.root.appending(path: "deploy/postgres/roles").path,
                    postgres.url(),
                ])
            try await body(postgres, directory)
        }
    }

    private static func url(_ user: String, _ postgres: TestPostgres) -> String {
        "host='\(postgres.socketDirectory)' user=\(user) dbname=humon"
    }

    /// - Returns: the statements that were carried out
    private static func permitted(_ statements: [String], to user: String, _ postgres: TestPostgres) async throws -> [String] {
        try await withPostgres(PostgresConfiguration(url: url(user, postgres)), logger: .quiet) { client in
            var permitted: [String] = []
            for statement in statements {
                do {
                    _ = try await client.query(SQL(unsafeText: statement))
                    permitted.append(statement)
                } catch PostgresError.refused {}
            }
            return permitted
        }
    }

    @Test func `a server's login that migrates or imports gets the names of its role and of the owner`() async throws {
        try await Self.withDeployment { postgres, directory in
            func humon(_ user: String, _ arguments: [String], migrates: Bool = true) async throws -> HumonProcess.Result {
                let environment = [
                    "DATABASE_URL": Self.url(user, postgres), "TB_APP_SECRET": HumonProcess.secret,
                    "HUMON_MIGRATE": "\(migrates)",
                ]
                return try await HumonProcess.run(arguments, in: directory, environment: environment)
            }
            let sentence = "The user humon_server lacks the rights of humon_owner, the owner of this database: run humon migrate"
            for arguments in [["migrate"], ["projections", "rebuild", "--all"]] {
                let empty = try await humon("humon_server", arguments)
                #expect(empty.status == 1 && empty.error.contains(sentence), "\(arguments): \(empty.error)")
            }
            try await humon("humon_owner", ["migrate"]).succeeded()
            // It is not read.
            try "tea".write(to: directory.appending(path: "log.zst"), atomically: true, encoding: .utf8)
            for arguments in [["migrate"], ["serve"], ["demo"], ["log", "import", "--yes", "log.zst"]] {
                let refused = try await humon("humon_server", arguments)
                #expect(refused.status == 1 && refused.error.contains(sentence), "\(arguments): \(refused.error)")
            }
            let imported = try await humon("humon_server", ["log", "import", "--yes", "log.zst"], migrates: false)
            #expect(imported.status == 1 && imported.error.contains(sentence), "\(imported.error)")
            try await humon("humon_server", ["demo", "--events", "1"], migrates: false).succeeded()
        }
    }

    @Test func `run nothing as the owner, and hold up no work of it`() async throws {
        try await Self.withDeployment { postgres, directory in
            let owner = ["DATABASE_URL": Self.url("humon_owner", postgres), "TB_APP_SECRET": HumonProcess.secret]
            @discardableResult func humon(_ arguments: String...) async throws -> HumonProcess.Result {
                try await HumonProcess.run(arguments, in: directory, environment: owner).succeeded()
            }
            try await humon("migrate")
            try await humon("demo", "--events", "20")
            try await postgres.administer(database: "humon") { superuser in
                _ = try await superuser.run([
                    "CREATE ROLE mallory LOGIN IN ROLE log_app", "CREATE ROLE night_shift LOGIN IN ROLE log_reader",
                    "GRANT CREATE, USAGE ON SCHEMA public TO PUBLIC",
                ])
            }
            try await withPostgres(PostgresConfiguration(url: Self.url(Self.application, postgres)), logger: .quiet) { mallory in
                try await mallory.withConnection { try await $0.execute(script: Self.traps) }
                let laid = try await mallory.query("SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace")
                    .decode(
                        Int64.self)
                #expect(laid[0] > 20)
            }
            for user in [Self.application, Self.reader] {
                let permitted = try await Self.permitted(Self.refusedToBoth, to: user, postgres)
                #expect(permitted == [], "\(user)")
            }
            #expect(try await Self.permitted(Self.refusedToReader, to: Self.reader, postgres) == [])

            let migrated = try await humon("migrate")
            #expect(migrated.output == "The database has all migrations.\n")
            try await HumonProcess.withServer(in: directory, environment: owner) { _, port in
                let headers = [
                    ("tb-app-secret", HumonProcess.secret), ("tb-device-token", "phone"), ("content-type", "application/json"),
                ]
                let party = #"{"name":"Party","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z"}"#
                let base = "http://127.0.0.1:\(port)/v1"
                #expect(try await exchange("POST", base + "/users", headers: headers).status == 200)
                #expect(try await exchange("POST", base + "/events", headers: headers, body: party).status == 200)
                let doctor = try await HumonProcess.run(["doctor", "--json"], in: directory, environment: owner)
                #expect(doctor.output.contains(#""check":"grants","state":"ok""#), "\(doctor.output)")
                #expect(!doctor.output.contains(#""state":"bad""#), "\(doctor.output)")
                try await humon("users", "erase", "1", "--yes")
            }
            for arguments in [["projections", "rebuild", "--all"], ["projections", "verify", "--all"], ["log", "verify"]] {
                try await HumonProcess.run(arguments, in: directory, environment: owner).succeeded()
            }
        }
    }
}
