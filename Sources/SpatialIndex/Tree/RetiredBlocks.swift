internal import CJemalloc

/// What a batch makes and what it replaces: blocks of memory, each written once and then left as it is.
struct RetiredBlocks {
    /// How much more is held than before, with what the allocator adds.
    private(set) var bytes = 0
    private(set) var replaced: [UnsafeMutableRawPointer] = []

    mutating func allocate(_ bytes: Int) -> UnsafeMutableRawPointer {
        self.bytes += Self.held(for: bytes)
        return UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: MemoryLayout<Int>.alignment)
    }

    mutating func replace(_ block: UnsafeMutableRawPointer, _ bytes: Int) {
        self.bytes -= Self.held(for: bytes)
        replaced.append(block)
    }

    /// The size of the class that jemalloc gives a block of so many bytes.
    private static func held(for bytes: Int) -> Int { nallocx(bytes, 0) }
}

/// The blocks that are in a snapshot and no more in the next.
///
/// Nobody counts references to single blocks, which would be written to by every search and by every copy of a inner. Instead a
/// snapshot keeps its own, which keeps the next snapshot's, and so on. So these blocks are freed when this snapshot and all before
/// it are gone; no later one has them.
///
/// `@unchecked`: ``close(_:next:)`` is called by the writer, once, while it holds the snapshot; after that only `deinit` looks.
final class Retired: @unchecked Sendable {
    private var blocks: [UnsafeMutableRawPointer] = []
    /// The compiler frees such a chain link after link, however long, and not each from within the one before.
    private var next: Retired?

    /// - Parameter next: of the next snapshot; nil where there will be none
    func close(_ blocks: [UnsafeMutableRawPointer], next: Retired?) {
        self.blocks = blocks
        self.next = next
    }

    deinit {
        for block in blocks { block.deallocate() }
    }
}
