import CJemalloc
import Foundation
import Testing

@Suite struct `The allocator` {
    /// Sanitizers bring one of their own.
    private static var isSanitized: Bool { dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil }

    /// Otherwise the index would count what nobody holds.
    @Test(.enabled(if: !isSanitized), arguments: [1, 300, 2_049, 12_345, 100_000])
    func `in force is the one by whose sizes the index counts`(bytes: Int) throws {
        let block = try #require(malloc(bytes))
        defer { free(block) }
        #expect(malloc_usable_size(block) == nallocx(bytes, 0))
    }
}
