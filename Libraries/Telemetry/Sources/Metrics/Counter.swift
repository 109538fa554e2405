internal import Synchronization

/// Numbers that many threads add to and a scrape reads. An addition takes no lock. Two numbers of one scrape may be from
/// different moments.
/// `@safe`: each access compares its index with the count. An array cannot hold atomics.
/// `@unchecked`: the pointer never changes, and it points to atomics.
@safe public final class Counter: @unchecked Sendable {
    private let numbers: UnsafeMutablePointer<Atomic<Int>>
    public let count: Int

    /// - Parameter count: number of counters; each one begins at 0
    public init(count: Int) {
        self.count = count
        unsafe numbers = .allocate(capacity: count)
        for index in 0..<count { unsafe (numbers + index).initialize(to: Atomic(0)) }
    }

    deinit {
        unsafe numbers.deinitialize(count: count)
        unsafe numbers.deallocate()
    }

    public func add(_ amount: Int = 1, at index: Int) {
        precondition(index >= 0 && index < count)
        unsafe numbers[index].add(amount, ordering: .relaxed)
    }

    public subscript(index: Int) -> Int {
        precondition(index >= 0 && index < count)
        return unsafe numbers[index].load(ordering: .relaxed)
    }
}
