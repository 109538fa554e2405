internal import Foundation
internal import Postgres

/// Fills shadows of read models from the log in one pass. While one page is written, the next one is decoded and folded on all
/// cores, and a third one is read. So at most three pages are in memory at a time, for a log of any length.
struct ShadowLoad: Sendable {
    /// Number of positions in one page. One transaction writes a whole page.
    static let page: Int64 = 20_000
    /// Number of recorded events that one task decodes.
    private static let slice = 2_500

    let copies: [ReadModelCopy]
    let lock: ShadowLock
    /// The recorded events to read; the shadows need no events of other modules.
    let filter: LogFilter
    let client: PostgresClient

    /// Fills the shadows up to a position, or up to the end of the log.
    /// - Returns: the copies with their new positions
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

    /// Reads the next page; nil at the end.
    private func read(after position: Int64, through end: Int64) async throws -> LogPage? {
        guard position < end else { return nil }
        let page = try await LogReader(client: client).page(
            after: position, limit: min(Self.page, end - position), filter: filter)
        return page.through > position ? page : nil
    }

    private struct Folded: Sendable {
        var insertions: [EncodedRows] = []
        var statements: [SQL] = []
        var through: Int64
    }

    /// Folds every slice separately. The rows of all slices are inserted before any row is changed. The result is the same,
    /// because no statement changes a row before its insertion.
    private func fold(_ page: LogPage?) async throws -> Folded? {
        guard let page else { return nil }
        let slices = stride(from: 0, to: page.events.count, by: Self.slice).map { page.events[$0...].prefix(Self.slice) }
        return try await withThrowingTaskGroup(of: (Int, Folded).self) { group in
            for (index, slice) in slices.enumerated() {
                group.addTask {
                    let writes = try copies.writes(decoding: Array(slice))
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

    /// Writes a page into all copies, in one transaction. Its commit need not wait for the disk, because the rebuild repeats work
    /// that a crash undoes.
    private func write(_ folded: Folded, into copies: [ReadModelCopy]) async throws {
        try await client.withLongTransaction { connection in
            let there = try await ReadModelCopy.locked(copies.map(\.projection), suffix: copies[0].suffix, on: connection)
            try await lock.check(on: connection)
            // A former builder's last transaction may have ended after this builder read the positions.
            guard there.map(\.position) == copies.map(\.position) else { throw ReadModelError.underWay(copies[0].schema) }
            try await connection.query("SET LOCAL synchronous_commit = off")
            try await connection.copy(folded.insertions)
            try await connection.run(folded.statements + [copies.checkpoint(at: folded.through)])
        }
    }
}
