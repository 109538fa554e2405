internal import CJemalloc
internal import Synchronization

/// The blocks of memory that one batch allocates and replaces. A block is written once and then never changes.
struct RetiredBlocks: Sendable {
    /// Growth of the memory in use, in bytes, in the size classes of the allocator.
    private(set) var bytes = 0
    private(set) var replaced: [Block] = []
    /// Bytes of the replaced blocks, in the size classes of the allocator.
    private(set) var replacedBytes = 0

    mutating func allocate(_ bytes: Int) -> Block {
        self.bytes += Self.held(for: bytes)
        return Block(bytes: bytes)
    }

    /// Allocates a block in place of an old one, and copies that; without an old one the new block has no values yet.
    mutating func copy(of old: Block?, _ bytes: Int) -> Block {
        let new = allocate(bytes)
        guard let old else { return new }
        new.copy(bytes, from: old)
        replace(old, bytes)
        return new
    }

    mutating func replace(_ block: Block, _ bytes: Int) {
        let held = Self.held(for: bytes)
        self.bytes -= held
        replacedBytes += held
        replaced.append(block)
    }

    /// Adds the blocks that another core allocated and replaced for the same batch.
    mutating func append(_ other: RetiredBlocks) {
        bytes += other.bytes
        replacedBytes += other.replacedBytes
        replaced += other.replaced
    }

    /// The size class that jemalloc uses for a block.
    private static func held(for bytes: Int) -> Int { nallocx(bytes, 0) }
}

/// Frees the blocks that a snapshot has and the next one does not, when no reader can see them.
///
/// Blocks have no reference counts, because every search, and every copy of an inner node, would write to them. Instead each
/// snapshot keeps its own object of this class, which keeps the object of the next snapshot, and so on. So the blocks are freed
/// when this snapshot and all earlier ones are released. No later snapshot has these blocks.
///
/// `@unchecked`: the writer calls ``close(_:next:)`` once, while it holds the snapshot; later only `deinit` reads the properties.
final class DeferredReclamation: @unchecked Sendable {
    /// Bytes of all blocks that an index has replaced and that its snapshots still hold.
    final class Backlog: Sendable {
        fileprivate let total = Atomic(0)

        var bytes: Int { total.load(ordering: .relaxed) }
    }

    let backlog: Backlog
    private var blocks: [Block] = []
    private var bytes = 0
    /// The runtime releases a chain of any length without recursion.
    private var next: DeferredReclamation?

    init(_ backlog: Backlog) { self.backlog = backlog }

    /// - Parameter next: the object of the next snapshot; nil if this snapshot is the last one
    func close(_ blocks: RetiredBlocks, next: DeferredReclamation?) {
        self.blocks = blocks.replaced
        bytes = blocks.replacedBytes
        backlog.total.add(bytes, ordering: .relaxed)
        self.next = next
    }

    deinit {
        for block in blocks { unsafe block.free() }
        backlog.total.subtract(bytes, ordering: .relaxed)
    }
}
