import Foundation
import Synchronization
import Testing

@testable import Transparency

@Suite struct `A writer that is killed` {
    /// Lets a number of changes of files happen, and then none.
    private final class Changes: Sendable {
        private let left: Mutex<Int>

        init(_ count: Int) { left = Mutex(count) }

        var interruptions: Interruptions {
            Interruptions { () throws(TreeError) in
                let isAllowed = self.left.withLock { left in
                    left -= 1
                    return left >= 0
                }
                guard isAllowed else { throw .fileSystem(doing: "continue", path: "", reason: "killed") }
            }
        }
    }

    /// Sizes before and after: with and without full tiles, and one whose new tiles fill two of the batches of 64 files.
    @Test(arguments: [(0, 1), (3, 5), (200, 520), (256, 512), (300, 300 + 256 * 33)])
    func `whatever file it changed last, the tree is whole, and the next writer continues it`(before: Int, after: Int) throws {
        let key = try SigningKey.random(name: "example.org/log")
        let start = try ScratchDirectory()
        var writer = try TreeWriter(start.open(), key: key)
        try writer.append(entries(0..<before), at: 0)
        _ = consume writer
        let root = NaiveTree.root(leaves(after + 1)[...])
        var (allowed, isComplete) = (0, false)
        while !isComplete {
            let scratch = try ScratchDirectory()
            try FileManager.default.copyItem(atPath: start.path + "/tree", toPath: scratch.path + "/tree")
            do throws(TreeError) {
                let directory = try TileDirectory(path: scratch.path + "/tree", interruptions: Changes(allowed).interruptions)
                var killed = try TreeWriter(directory, key: key)
                try killed.append(entries(before..<after), at: Int64(before))
                isComplete = true
            } catch {}
            let tree = try #require(try PublishedTree(scratch.open(), signedBy: key.verifierKey))
            #expect([before, after].contains(Int(tree.checkpoint.size)))
            #expect(try tree.firstDifference() == nil, "after \(allowed) changes")
            var next = try TreeWriter(scratch.open(), key: key)
            let size = Int(next.checkpoint.size)
            #expect(try next.append(entries(size..<after + 1), at: Int64(size)).root == root)
            #expect(try PublishedTree(scratch.open(), signedBy: key.verifierKey)?.firstDifference() == nil)
            // Nothing stays but what the next batch writes over.
            #expect(try scratch.files().filter { $0.hasPrefix("unfinished/") }.count <= 64)
            // The smaller ones try every file.
            allowed += allowed < (after < 1_000 ? 40 : 4) ? 1 : 37
        }
        #expect(allowed > 3)
    }
}
