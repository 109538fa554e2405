import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EmbeddedPostgres

@Suite struct `Upgrading a private PostgreSQL` {
    /// Passes the directory of a stopped cluster with a table of teas, the programs, and the directory above it.
    private static func withTeas(
        named name: String = "humon-cluster",
        _ body: (_ directory: String, _ postgres: TwoPostgres, _ parent: String) async throws -> Void
    ) async throws {
        try await withClusterDirectory(named: name) { directory in
            let parent = URL(fileURLWithPath: directory).deletingLastPathComponent().path
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            let postgres = try await TwoPostgres(copiedInto: parent)
            try await query("CREATE TABLE teas AS SELECT 'mate'::text AS name", in: directory, postgres)
            try await body(directory, postgres, parent)
        }
    }

    @discardableResult
    private static func query(_ statement: SQL, in directory: String, _ postgres: TwoPostgres) async throws -> [String] {
        try await withCluster(in: directory, programs: postgres.old) { cluster async throws in try await cluster.query(statement)
        }
    }

    /// The old cluster is the only one in its directory, and starts.
    private static func expectOldCluster(in directory: String, _ postgres: TwoPostgres) async throws {
        #expect(names(in: directory) == ["cluster", "lock"])
        #expect(try await query("SELECT name FROM teas", in: directory, postgres) == ["mate"])
    }

    private static func names(in directory: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
    }

    private static func refusal(_ directory: String, _ programs: String, _ postgres: TwoPostgres) async throws
        -> EmbeddedPostgresError
    {
        let error = await #expect(throws: EmbeddedPostgresError.self) {
            try await EmbeddedCluster.upgrade(
                .init(directory: directory, programs: programs), oldPrograms: postgres.old, logger: .quiet)
        }
        return try #require(error)
    }

    /// Scripts that pass for the programs of a version that no cluster has yet.
    private static let version99 = ["postgres": "echo 'postgres (PostgreSQL) 99.1'", "pg_ctl": "", "initdb": ""]

    private static func write(_ scripts: [String: String], in directory: String) throws -> String {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        for (name, script) in scripts {
            try? FileManager.default.removeItem(atPath: "\(directory)/\(name)")
            try "#!/bin/sh\n\(script)\n".write(toFile: "\(directory)/\(name)", atomically: false, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(directory)/\(name)")
        }
        return directory
    }

    @Test func `an upgrade, also after a killed one, keeps all rows, and the old cluster for the way back`() async throws {
        try await Self.withTeas(named: "it's \"my\" $HOME `id` \\ ;&|<>(*)? ⌘ ") { directory, postgres, parent in
            let version = TwoPostgres.versions.old
            let configuration = EmbeddedCluster.Configuration(directory: directory, programs: postgres.new)
            // What a killed upgrade leaves: half a new cluster, and the old one on a socket that no program finds.
            let (kept, account) = ("\(directory)/cluster.\(version)", try Account.toRunPostgres(in: directory))
            try FileManager.default.createDirectory(atPath: kept, withIntermediateDirectories: false)
            try "18\n".write(toFile: "\(kept)/PG_VERSION", atomically: false, encoding: .utf8)
            try #require(FileManager.default.createFile(atPath: "\(kept).unfinished", contents: nil))
            if account.identity != nil { try await TestProgram.run("/bin/chown", ["-R", account.name, kept]) }
            let killed = try await ClusterCommands(
                programs: .find(in: postgres.old, majorVersion: version), account: account,
                layout: Layout(directory: directory, superuser: "postgres"), settings: ["port": Postmaster.portOfUpgrade],
                logger: .quiet)
            try await killed.start()
            #expect(try await EmbeddedCluster.urlOfRunning(configuration, logger: .quiet) == nil)
            try await Self.query("INSERT INTO teas VALUES ('sencha')", in: directory, postgres)
            try await killed.start()

            let upgrade = try await EmbeddedCluster.upgrade(configuration, oldPrograms: postgres.old, logger: .quiet)
            #expect((upgrade.oldVersion, upgrade.version, upgrade.oldDirectory) == (version, TwoPostgres.versions.new, kept))
            #expect(upgrade.oldBytes > 1 << 20 && upgrade.bytes > 1 << 20)
            #expect(Self.names(in: directory) == ["cluster", "cluster.\(version)", "lock"])
            #expect(!FileManager.default.fileExists(atPath: "\(directory)/cluster/delete_old_cluster.sh"))
            let cluster = try await EmbeddedCluster.start(configuration, logger: .quiet)
            let teas = try await cluster.query("SELECT name || current_setting('data_checksums') FROM teas ORDER BY name")
            let analysed = try await cluster.query("SELECT tablename::text FROM pg_stats WHERE tablename = 'teas'")
            try await cluster.stop()
            #expect(teas == ["mateon", "senchaon"] && analysed == ["teas"])

            // The way back, here with a copy: a second upgrade does not overwrite the old cluster.
            try FileManager.default.moveItem(atPath: "\(directory)/cluster", toPath: "\(parent)/new")
            try await TestProgram.run("/bin/cp", ["-a", kept, "\(directory)/cluster"])
            #expect(try await Self.refusal(directory, postgres.new, postgres) == .hasOldCluster(path: kept))
            #expect(try await Self.query("SELECT name FROM teas ORDER BY name", in: directory, postgres) == ["mate", "sencha"])
        }
    }

    @Test func `without a cluster or a newer PostgreSQL, and while a program uses it, nothing is upgraded`() async throws {
        try await Self.withTeas { directory, postgres, parent in
            let newer = try Self.write(Self.version99, in: "\(parent)/99")
            let cluster = try await start(in: directory, programs: postgres.old)
            #expect(try await Self.refusal(directory, newer, postgres) == .inUse(directory: directory, byProcess: getpid()))
            cluster.leave()
            let process = try postmaster(in: directory)
            #expect(try await Self.refusal(directory, newer, postgres) == .inUse(directory: directory, byProcess: process))
            let nothing = EmbeddedPostgresError.nothingNewer(than: TwoPostgres.versions.old, newest: postgres.old)
            #expect(try await Self.refusal(directory, postgres.old, postgres) == nothing)
            #expect(try await Self.refusal("\(parent)/none", newer, postgres) == .noCluster(directory: "\(parent)/none"))
            #expect(!FileManager.default.fileExists(atPath: "\(parent)/none"))
            try await Self.expectOldCluster(in: directory, postgres)
        }
    }

    @Test func `an upgrade that is cancelled stops its server, and leaves the old cluster alone`() async throws {
        try await Self.withTeas { directory, postgres, parent in
            // Starts the old cluster, as pg_upgrade does. Its second argument is the directory of the old programs.
            let options = "-b -c listen_addresses= -p \(Postmaster.portOfUpgrade) -k '$PWD'"
            let start = "\"$2/pg_ctl\" start -D ../cluster -l log -o \"\(options)\" >/dev/null"
            let script = "\(start) && touch reached && exec sleep 600"
            let programs = try Self.write(Self.version99.merging(["pg_upgrade": script]) { $1 }, in: "\(parent)/99")
            let upgrading = Task {
                try await EmbeddedCluster.upgrade(
                    .init(directory: directory, programs: programs), oldPrograms: postgres.old, logger: .quiet)
            }
            try await eventually("pg_upgrade") {
                FileManager.default.fileExists(atPath: "\(directory)/cluster.\(TwoPostgres.versions.old)/reached")
            }
            upgrading.cancel()
            await #expect(throws: (any Error).self) { try await upgrading.value }
            try await Self.expectOldCluster(in: directory, postgres)
        }
    }

    @Test func `a small disk is refused, and one that is full in the middle leaves the old cluster alone`() async throws {
        try await withClusterDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            // Only root can mount a disk, so the test of another account ends here.
            let disk = ["-t", "tmpfs", "-o", "size=140m,mode=755", "none", directory]
            guard (try? await TestProgram.run("/bin/mount", disk)) != nil else { return }
            let result: Result<Void, any Error>
            do { result = .success(try await Self.fill(directory)) } catch { result = .failure(error) }
            try await TestProgram.run("/bin/umount", ["--lazy", directory])
            try result.get()
        }
    }

    private static func fill(_ directory: String) async throws {
        let parent = URL(fileURLWithPath: directory).deletingLastPathComponent().path
        let postgres = try await TwoPostgres(copiedInto: parent)
        try await query("CREATE TABLE teas AS SELECT 'mate'::text AS name", in: directory, postgres)
        // 20 MB.
        try await query("CREATE UNLOGGED TABLE leaves AS SELECT generate_series(1, 600000) AS leaf", in: directory, postgres)
        let early = try await refusal(directory, postgres.new, postgres)
        guard case .noRoom(directory, _, _) = early else { throw early }
        try await TestProgram.run("/bin/mount", ["-o", "remount,size=300m", directory])
        // 10 MB are free when the real pg_upgrade begins.
        try await TestProgram.run("/bin/cp", ["-Rs", postgres.new, "\(parent)/filling"])
        let script = "cat /dev/zero >filler 2>/dev/null; truncate -s -10M filler; exec '\(postgres.new)/pg_upgrade' \"$@\""
        let late = try await refusal(directory, write(["pg_upgrade": script], in: "\(parent)/filling"), postgres)
        guard case .notUpgraded(let reason) = late else { throw late }
        #expect(reason.hasPrefix("pg_upgrade failed: ") && reason.contains("No space left on device"), "\(reason)")
        try await expectOldCluster(in: directory, postgres)
    }
}
