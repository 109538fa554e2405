internal import Foundation
internal import Postgres

/// Fills shadows of read models from the log in one pass: while a page is written the next one is decoded and folded, on all
/// cores, and the one after that is read. Three pages are in memory at a time, however long the log is.
struct ShadowLoad: Sendable {
    /// Positions that are read, folded and written at once, in one transaction.
    static let page: Int64 = 20_000
    /// Recorded events that one task decodes.
    private static let slice = 2_500

    let copies: [ReadModelCopy]
    let lease: ShadowLease
    /// The recorded events to read; the shadows need no events of other modules.
    let filter: LogFilter
    var sample: StreamSample?
    let client: PostgresClient

    /// Up to a position, or to where the log ends when it gets there.
    func run(through end: Int64 = .max, progress: @Sendable (_ position: Int64) -> Void) async throws -> [ReadModelCopy] {
        var copies = copies
        var page = try await read(after: copies.position, through: end)
        var folded: Folded?
        while page != nil || folded != nil {
            let current = page
            async let nextPage = read(after: current?.through ?? end, through: end)
            async let nextFolded = fold(current)
            if let folded {
                try await write(folded, into: copies)
                copies.advance(to: folded.through)
                progress(folded.through)
            }
            (page, folded) = try await (nextPage, nextFolded)
        }
        return copies
    }

    /// nil at the end.
    private func read(after position: Int64, through end: Int64) async throws -> LogRows? {
        guard position < end else { return nil }
        let rows = try await LogReader(client: client).rows(
            after: position, limit: min(Self.page, end - position), filter: filter, sample: sample)
        return rows.through > position ? rows : nil
    }

    private struct Folded: Sendable {
        var insertions: [EncodedRows] = []
        var statements: [SQL] = []
        var through: Int64
    }

    /// Every slice is folded for itself. That its rows are inserted before anything is changed makes no difference: nothing
    /// changes a row before it is there.
    private func fold(_ page: LogRows?) async throws -> Folded? {
        guard let page else { return nil }
        let slices = stride(from: 0, to: page.rows.count, by: Self.slice).map { $0..<min($0 + Self.slice, page.rows.count) }
        return try await withThrowingTaskGroup(of: (Int, Folded).self) { group in
            for (index, slice) in slices.enumerated() {
                group.addTask {
                    let writes = try copies.writes(for: page.decode(slice))
                    var folded = Folded(through: page.through)
                    for write in writes {
                        switch write {
                        case .insert(let insertion): folded.insertions.append(insertion.encoded)
                        case .run(let statement): folded.statements.append(statement)
                        }
                    }
                    return (index, folded)
                }
            }
            return try await group.reduce(into: Array(repeating: Folded(through: 0), count: slices.count)) { $0[$1.0] = $1.1 }
        }.reduce(into: Folded(through: page.through)) { whole, part in
            whole.insertions += part.insertions
            whole.statements += part.statements
        }
    }

    /// One transaction for all copies. Its commit need not wait for the disk: what a crash takes back is done again.
    private func write(_ folded: Folded, into copies: [ReadModelCopy]) async throws {
        try await client.withTransaction { connection in
            try await connection.withoutTimeout { connection in
                let there = try await ReadModelCopy.locked(copies.map(\.projection), as: copies.map(\.schema), on: connection)
                try await lease.check(on: connection)
                // A former builder's last transaction may have ended after this one read where it stood.
                guard there.map(\.position) == copies.map(\.position) else { throw ReadModelError.underWay(copies[0].schema) }
                try await connection.query("SET LOCAL synchronous_commit = off")
                try await connection.copy(folded.insertions)
                try await connection.run(folded.statements + [copies.checkpoint(at: folded.through)])
            }
        }
    }
}
