import App
import Encoding
import EventStore
import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

/// A value of a personal member, in each form in which bytes may hold it.
private struct Canary: Sendable {
    /// Of the category and the member, such as `event name`.
    var member: String
    var forms: [(name: String, bytes: [UInt8])] = []

    init(_ member: String, _ value: JSON) {
        self.member = member
        switch value {
        case .string(let text): add(text)
        case .number:
            add(value.text)
            guard let double = Double(value.text) else { return }
            let bytes = stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: double.bitPattern >> $0) }
            forms += [("big-endian double", bytes), ("little-endian double", bytes.reversed())]
        default: break
        }
    }

    private mutating func add(_ text: String) {
        let bytes = Array(text.utf8)
        forms.append(("UTF-8", bytes))
        let escaped = text.utf16.map { $0 < 128 ? String(UnicodeScalar(UInt8($0))) : "\\u" + String(format: "%04x", Int($0)) }
            .joined()
        if escaped != text { forms.append(("JSON escapes", Array(escaped.utf8))) }
        let digits = bytes.map { String(format: "%02x", Int($0)) }.joined()
        forms.append(("hexadecimal", Array(digits.utf8)))
        forms.append(("upper-case hexadecimal", Array(digits.uppercased().utf8)))
        // A digest is a word, too.
        if let raw = Data(hexadecimal: text) ?? Data(base64Encoded: text), raw.count >= 16 { forms.append(("bytes", Array(raw))) }
    }
}

extension [Canary] {
    /// The names of the members that are in the data, each with the first form that was found.
    fileprivate func found(in data: Data) -> [String: String] {
        data.withUnsafeBytes { data in
            reduce(into: [:]) { found, canary in
                let form = canary.forms.first { data.contains($0.bytes) }
                if let form { found[canary.member] = form.name }
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func contains(_ word: [UInt8]) -> Bool {
        guard var place = baseAddress, word.count <= count else { return false }
        let end = place + count - word.count
        while place <= end, let next = memchr(place, Int32(word[0]), end - place + 1) {
            if memcmp(next, word, word.count) == 0 { return true }
            place = UnsafeRawPointer(next) + 1
        }
        return false
    }
}

extension Data {
    fileprivate init?(hexadecimal text: String) {
        guard text.count.isMultiple(of: 2), text.allSatisfy({ $0.isHexDigit }) else { return nil }
        let digits = Array(text)
        self.init(stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) })
    }
}

/// What PostgreSQL and the program keep, each as one piece of bytes.
private struct Remains: Sendable {
    let database: TestDatabase
    let directory: URL

    /// The files of the data directory, without WAL, which a backup's retention ends, and without the databases of other tests.
    func files() async throws -> Data {
        try await database.asSuperuser("CHECKPOINT")
        let (folder, own) = try await database.withClient { client in
            try await client.query(
                "SELECT current_setting('data_directory'), oid::text FROM pg_database WHERE datname = current_database()"
            ).decode((String, String).self)[0]
        }
        var all = Data()
        for case let path as String in FileManager.default.enumerator(atPath: folder) ?? .init() {
            let parts = path.split(separator: "/")
            guard parts.first != "pg_wal", parts.first != "base" || parts.dropFirst().first.map(String.init) == own else {
                continue
            }
            // A file may go meanwhile.
            all += (try? Data(contentsOf: URL(filePath: folder).appending(path: path))) ?? Data()
        }
        return all
    }

    func dump() async throws -> Data {
        let path = directory.appending(path: "dump.sql")
        try await TestPostgres.run("pg_dump", ["--file", path.path, "--dbname", database.url])
        return try Data(contentsOf: path)
    }

    func archive() async throws -> Data {
        let path = directory.appending(path: "archive.zst")
        try await HumonProcess.run(["log", "export", path.path], on: database).succeeded()
        let file = ZstandardReader(try FileHandle(forReadingFrom: path))
        var lines = Data()
        while let piece = try file.read() { lines += piece }
        try FileManager.default.removeItem(at: path)
        return lines
    }

    func all() async throws -> [(place: String, bytes: Data)] {
        [("files", try await files()), ("dump", try await dump()), ("archive", try await archive())]
    }
}

@Suite struct `The statements in privacy.md that rewrite PostgreSQL's files` {
    /// Writes a value to each personal member of each category.
    private static func plant(_ base: String, _ humon: @Sendable ([String]) async throws -> HumonProcess.Result) async throws {
        func send(_ method: String, _ path: String, _ body: String, _ headers: [(String, String)]) async throws -> String {
            let response = try await exchange(
                method, base + path, headers: headers + [("content-type", "application/json")], body: body)
            #expect((200...299).contains(response.status), "\(method) \(path): \(response.status) \(response.body)")
            return response.body
        }
        let device = [("tb-app-secret", HumonProcess.secret), ("tb-device-token", "a token of seventeen")]
        _ = try await send("POST", "/users", "{}", device)
        _ = try await send("POST", "/users/me/passes", #"{"kind":"recovery"}"#, device)
        let event =
            #"{"name":"Größe Zyzzyva","address":"Straße Quixotry 9","lat":37.123456789,"lon":-122.987654321,"#
            + #""started_at":"2030-09-16T00:00:00Z","category":"outdoors","time_zone":"Antarctica/Troll","#
            + #""description":"Über Xylophone","link":"https://borborygmi.example/"}"#
        // The planner keeps values of a column only if it has some.
        for _ in 1...3 { _ = try await send("POST", "/events", event, device) }
        #expect(try await humon(["events", "hide", "1", "--reason", "Sells Ünreal tickets"]).status == 0)

        func authorization(_ answer: String) throws -> [(String, String)] {
            let token = try #require(answer.firstMatch(of: /"token":"([^"]+)"/)).1
            return [("authorization", "Bearer \(token)")]
        }
        let account = #"{"user":{"name":"Ännchen Przybylski","email":"przybylski@example.org","password":"correct horse"}}"#
        let signedUp = try await send("POST", "/users", account, [])
        let token = try authorization(signedUp)
        for _ in 1...3 { _ = try await send("POST", "/tasks", #"{"task":{"title":"Løse bananas, please"}}"#, token) }
        // One more than the account may have, so that one is replaced.
        let signIn = #"{"user":{"email":"przybylski@example.org","password":"correct horse"}}"#
        var last = ""
        for _ in 1...20 { last = try await send("POST", "/users/sign_in", signIn, []) }
        _ = try await send("DELETE", "/users/sign_out", "", try authorization(last))
    }

    @Test func `leave no byte of any personal member of an erased person in files, dump, archive and log lines`() async throws {
        let unlimited = ["HUMON_SIGN_INS_PER_MINUTE": "0", "HUMON_ACCOUNT_SIGN_INS_PER_MINUTE": "0"]
        try await HumonProcess.withServer(environment: unlimited) { server, port, database in
            let directory = FileManager.default.temporaryDirectory.appending(path: "humon-scan-\(UUID().uuidString.prefix(8))")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            let humon: @Sendable ([String]) async throws -> HumonProcess.Result = {
                try await HumonProcess.run($0, on: database)
            }
            try await Self.plant("http://127.0.0.1:\(port)/v1", humon)
            // The files of replaced tables, and the planner's statistics.
            #expect(try await humon(["projections", "rebuild", "--all"]).status == 0)
            try await database.asSuperuser("ANALYZE")

            let kept = try await database.withClient { client in
                try await client.query(
                    """
                    SELECT tablename || '.' || attname FROM pg_stats
                    WHERE most_common_vals IS NOT NULL AND (schemaname, attname) IN (('events_v1', 'name'), ('tasks_v1', 'title'))
                    """
                ).decode(String.self)
            }
            #expect(kept.sorted() == ["events.name", "tasks.title"])
            let canaries = try await Self.canaries(database)
            let remains = Remains(database: database, directory: directory)
            for (place, bytes) in try await remains.all() {
                #expect(Set(canaries.found(in: bytes).keys) == Set(canaries.map(\.member)), "the control in \(place)")
            }

            for kind in ["users", "accounts"] { try await humon([kind, "erase", "1", "--yes"]).succeeded() }
            let before = canaries.found(in: try await remains.files())
            #expect(before["event name"] != nil, "the files keep old row versions")
            try await Self.untilNoTransactionSeesErasedRows(database)
            let page = try Repository.text("docs/privacy.md")
            let statements = try #require(page.firstMatch(of: /```sql\n((?s:.*?))```/)).1
            let script = directory.appending(path: "rewrite.sql")
            try String(statements).write(to: script, atomically: true, encoding: .utf8)
            try await TestPostgres.run(
                "psql", ["--no-psqlrc", "--set", "ON_ERROR_STOP=1", "--dbname", database.url, "--file", script.path])

            for (place, bytes) in try await remains.all() {
                #expect(canaries.found(in: bytes) == [:], "\(place)")
            }
            #expect(canaries.found(in: Data((server.output + server.error).utf8)) == [:])
            #expect(try await humon(["log", "verify"]).status == 0)
            #expect(try await humon(["projections", "verify", "--all"]).status == 0)
        }
    }

    /// One for each value that the log has in a personal member.
    private static func canaries(_ database: TestDatabase) async throws -> [Canary] {
        let rows = try await database.withClient { client in
            try await client.query("SELECT stream, personal::text FROM log.recorded_events WHERE personal IS NOT NULL").decode(
                (String, String).self)
        }
        var canaries: [String: Canary] = [:]
        for (stream, personal) in rows {
            let category = StreamName(stream).category
            guard case .object(let object) = try JSON(utf8: Array(personal.utf8)) else { continue }
            for member in object.members where member.value != .null {
                canaries["\(category) \(member.name)"] = Canary("\(category) \(member.name)", member.value)
            }
        }
        let planted = Set(canaries.keys)
        let all = StoredModule.all.domainEvents.flatMap { domainEvent in
            domainEvent.personal.names.map { "\(domainEvent.category) \($0)" }
        }
        #expect(planted == Set(all), "each personal member has a canary")
        return Array(canaries.values)
    }

    /// A rewrite copies each row version that a transaction may still see. A snapshot counts the transactions of all databases, so those
    /// of other tests count, too.
    private static func untilNoTransactionSeesErasedRows(_ database: TestDatabase) async throws {
        try await database.withClient { client async throws in
            let now = try await client.query("SELECT pg_current_xact_id()::xid::text").decode(String.self)[0]
            try await eventually("all transactions of before the rewrite to end", within: .seconds(60)) {
                try await client.query(
                    """
                    SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND (
                        age(backend_xid) > age(\(now)::text::xid)
                        OR (datname = current_database() OR datname IS NULL) AND age(backend_xmin) > age(\(now)::text::xid)
                    )
                    """
                ).decode(Int32.self).isEmpty
            }
        }
    }
}
