import Encoding
import Foundation
import Postgres
import Synchronization
import Testing

@Suite struct `Copying rows` {
    @Test func `COPY TO hands each row to the closure`() async throws {
        try await withConnection { connection in
            let lines = Mutex<[String]>([])
            try await connection.copyOut("COPY (SELECT n, 'tea ' || n FROM generate_series(1, 3) AS n) TO STDOUT") { row in
                lines.withLock { $0.append(String(utf8: row)) }
            }
            #expect(lines.withLock { $0 } == ["1\ttea 1\n", "2\ttea 2\n", "3\ttea 3\n"])
        }
    }

    @Test func `COPY FROM accepts pieces that end anywhere, and more bytes than the socket buffers hold`() async throws {
        try await withTable { connection in
            let pieces = Pieces(["1\n", "2", "3", "\n4\n5", "\n", ""])
            try await connection.copyIn("COPY numbers FROM STDIN") { pieces.next() }
            #expect(try await connection.query("SELECT n FROM numbers").column(Int64.self) == [1, 23, 4, 5])
            let many = Pieces((0..<100).map { _ in String(repeating: "7\n", count: 10_000) })
            try await connection.copyIn("COPY numbers FROM STDIN") { many.next() }
            #expect(try await connection.query("SELECT count(*) FROM numbers").column(Int64.self) == [1_000_004])
        }
    }

    @Test func `COPY FROM with a source that fails half-way writes no row and throws the source's error`() async throws {
        try await withTable { connection async throws in
            let pieces = Pieces(["1\n", "2\n"])
            await #expect(throws: NoTea.self) {
                try await connection.copyIn("COPY numbers FROM STDIN") {
                    guard let piece = pieces.next() else { throw NoTea() }
                    return piece
                }
            }
            #expect(try await connection.query("SELECT n FROM numbers").isEmpty)
        }
    }

    @Test func `COPY FROM that PostgreSQL refuses half-way throws its error and takes no more pieces`() async throws {
        try await withTable { connection async throws in
            let pieces = Pieces(["1\n", "tea\n"] + (0..<2_000).map { _ in String(repeating: "7\n", count: 10_000) })
            let error = await #expect(throws: PostgresError.self) {
                try await connection.copyIn("COPY numbers FROM STDIN") { pieces.next() }
            }
            #expect(error?.sqlState == SQLState(rawValue: "22P02"))
            let unknown = await #expect(throws: PostgresError.self) {
                try await connection.copyIn("COPY coffees FROM STDIN") { nil }
            }
            #expect(unknown?.sqlState == .undefinedTable)
            #expect(pieces.next() != nil)
            #expect(try await connection.query("SELECT n FROM numbers").isEmpty)
        }
    }

    @Test func `COPY TO with a closure that fails throws its error, and no later statement is cancelled`() async throws {
        try await withConnection { connection in
            for rows in [3, 1_000_000, 1, 10, 100, 2, 1_000, 1, 2, 3] {
                await #expect(throws: NoTea.self) {
                    try await connection.copyOut("COPY (SELECT generate_series(1, \(rows))) TO STDOUT") { _ in throw NoTea() }
                }
                // Longer than a late cancel request takes to arrive.
                let answer = try await connection.query("SELECT 'usable'::text FROM pg_sleep(0.1)")
                #expect(try answer.column(String.self) == ["usable"])
            }
        }
    }

    @Test(.client()) func `COPY TO that PostgreSQL refuses half-way throws its error after the rows before`() async throws {
        try await client.withConnection { connection async throws in
            let count = Atomic(0)
            let error = await #expect(throws: PostgresError.self) {
                try await connection.copyOut("COPY (SELECT 1 / (50000 - n) FROM generate_series(1, 90000) AS n) TO STDOUT") {
                    _ in count.add(1, ordering: .relaxed)
                }
            }
            #expect(error?.sqlState == SQLState(rawValue: "22012"))
            let unknown = await #expect(throws: PostgresError.self) {
                try await connection.copyOut("COPY coffees TO STDOUT") { _ in }
            }
            #expect(unknown?.sqlState == .undefinedTable)
            #expect(count.load(ordering: .relaxed) == 49_999)
            #expect(try await connection.query("SELECT 'usable'::text").column(String.self) == ["usable"])
        }
    }

    @Test func `COPY TO in batches hands over all rows on the connection's thread, which may block`() async throws {
        let cases: [(count: Int, sizes: [Int])] = [
            (0, []), (1, [1]), (1_000, [1_000]), (2_000, [1_000, 1_000]), (2_500, [1_000, 1_000, 500]),
        ]
        try await withTable { connection in
            for (count, sizes) in cases {
                try await connection.query("TRUNCATE numbers")
                try await connection.query("INSERT INTO numbers SELECT * FROM generate_series(1, \(Int64(count)))")
                let threads = Mutex<Set<String>>([])
                let numbers = Mutex<[Int64]>([])
                let batches = Mutex<[Int]>([])
                try await connection.copyRows(of: "numbers", in: "public", columns: ["n"], atOnce: 1_000) { rows in
                    threads.withLock { _ = $0.insert("\(pthread_self())") }
                    batches.withLock { $0.append(rows.count) }
                    try rows.forEach { row in
                        let number: Int64 = try row.next()
                        numbers.withLock { $0.append(number) }
                    }
                }
                #expect(numbers.withLock { $0.sorted() } == (0..<count).map { Int64($0 + 1) }, "\(count)")
                #expect(batches.withLock { $0 } == sizes, "\(count)")
                #expect(threads.withLock { $0.count } == min(count, 1), "\(count)")
            }
        }
    }

    private func withTable(_ body: @Sendable (LeasedConnection) async throws -> Void) async throws {
        try await withConnection { connection in
            try await connection.query("CREATE TABLE numbers (n bigint)")
            try await body(connection)
        }
    }
}

private final class Pieces: Sendable {
    private let pieces: Mutex<ArraySlice<String>>
    init(_ pieces: [String]) { self.pieces = Mutex(pieces[...]) }
    func next() -> [UInt8]? { pieces.withLock { $0.popFirst().map { Array($0.utf8) } } }
}
