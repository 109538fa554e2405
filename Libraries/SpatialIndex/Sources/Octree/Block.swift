/// A block of memory with columns of values. One thread writes the block while it makes a node; then the block never changes.
///
/// This file and the places that free a block are the library's only unsafe code. A block has no reference count, because every
/// search would write to it. A reader may use a block for as long as it holds a snapshot with the block (``DeferredReclamation``).
///
/// `@safe`: the size of a block follows from the count that its first bytes hold, and every column is within the size.
/// `@unchecked`: one thread writes the block before any other thread sees it.
@safe struct Block: BitwiseCopyable, @unchecked Sendable {
    private let start: UnsafeMutableRawPointer

    init(bytes: Int) { unsafe start = .allocate(byteCount: bytes, alignment: MemoryLayout<Int>.alignment) }

    /// Called when no snapshot has the block.
    @unsafe func free() { unsafe start.deallocate() }

    /// The number in the first bytes.
    @inline(__always)
    var count: Int {
        get { unsafe start.load(as: Int.self) }
        nonmutating set { unsafe start.storeBytes(of: newValue, as: Int.self) }
    }

    /// - Parameters:
    ///   - head: number of bytes before all columns
    ///   - row: number of bytes that the columns before this one take for each row
    ///   - count: number of rows
    @inline(__always)
    func column<Value: BitwiseCopyable>(
        _: Value.Type = Value.self, after head: Int = 0, _ row: Int = 0, count: Int
    ) -> Column<Value> {
        // Without checks for overflow: the block was allocated with this size.
        unsafe Column(start: (start + head + count &* row).assumingMemoryBound(to: Value.self), count: count)
    }

    func copy(_ bytes: Int, from other: Block) { unsafe start.copyMemory(from: other.start, byteCount: bytes) }
}

/// Values beside each other, in a block or for the time of a closure. A copy has the same memory.
///
/// `@safe`: indices come from loops up to the count that the memory was made for. Only builds for debugging, and so the tests, check
/// each index, because searches spend their time here.
@safe struct Column<Value: BitwiseCopyable>: BitwiseCopyable {
    fileprivate let start: UnsafeMutablePointer<Value>
    let count: Int

    @inline(__always)
    subscript(index: Int) -> Value {
        get {
            assert(0 <= index && index < count)
            return unsafe start[index]
        }
        nonmutating set {
            assert(0 <= index && index < count)
            unsafe start[index] = newValue
        }
    }

    @inline(__always)
    subscript(range: Range<Int>) -> Column {
        assert(0 <= range.lowerBound && range.upperBound <= count)
        return unsafe Column(start: start + range.lowerBound, count: range.count)
    }

    func fill(with value: Value) { unsafe start.update(repeating: value, count: count) }

    /// Copies all values of another column to the first places of this one.
    func copy(_ other: Column) {
        assert(other.count <= count)
        unsafe start.update(from: other.start, count: other.count)
    }
}

extension Column<UInt8> {
    /// Gives the bytes to a caller outside of this library.
    func withSpan<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
        try body(unsafe RawSpan(_unsafeStart: start, byteCount: count))
    }
}

/// Memory on the stack, without initial values.
func withTemporaryColumn<Value: BitwiseCopyable, Result>(
    of _: Value.Type, count: Int, _ body: (Column<Value>) -> Result
) -> Result {
    unsafe withUnsafeTemporaryAllocation(of: Value.self, capacity: count) { buffer in
        guard let start = buffer.baseAddress else { preconditionFailure("no column is empty") }
        return body(unsafe Column(start: start, count: count))
    }
}

extension Array where Element: BitwiseCopyable {
    /// Calls a closure that only reads the column.
    func withColumn<Result>(_ body: (Column<Element>) -> Result) -> Result {
        unsafe withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { preconditionFailure("even an empty array has an address") }
            return body(unsafe Column(start: UnsafeMutablePointer(mutating: start), count: count))
        }
    }

    mutating func withMutableColumn(_ body: (Column<Element>) -> Void) {
        unsafe withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            body(unsafe Column(start: start, count: buffer.count))
        }
    }

    /// Makes an array of which the closure sets all elements.
    init(count: Int, _ set: (Column<Element>) -> Void) {
        unsafe self.init(unsafeUninitializedCapacity: count) { buffer, initialized in
            guard let start = buffer.baseAddress else { return }
            set(unsafe Column(start: start, count: count))
            initialized = count
        }
    }
}

extension [UInt8] {
    mutating func append(_ bytes: Span<UInt8>) { unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) } }
}
