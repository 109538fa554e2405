import CJemalloc
import Foundation
import Testing

@Suite struct `The allocator of the index` {
    /// A sanitizer replaces the allocator.
    private static var isSanitized: Bool { dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil }

    /// Otherwise the index would count bytes of an allocator that is not in use.
    @Test(.enabled(if: !isSanitized), arguments: [1, 300, 2_049, 12_345, 100_000])
    func `malloc allocates the sizes by which the index counts its bytes`(bytes: Int) throws {
        let block = try #require(malloc(bytes))
        defer { free(block) }
        #expect(malloc_usable_size(block) == nallocx(bytes, 0))
    }
}
