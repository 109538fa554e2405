/// A block of memory with columns of values. One thread writes the block while it makes a node; then the block never changes.
///
/// This file and the places that free a block are the library's only unsafe code. A block has no reference count, because every
/// search would write to it. A reader may use a block for as long as it holds a snapshot with the block (``DeferredReclamation``).
///
/// `@safe`: the size of a block follows from the numbers that its first bytes hold, and every column is within the size.
/// `@unchecked`: one thread writes the block before any other thread sees it.
@safe struct Block: BitwiseCopyable, Equatable, @unchecked Sendable {
    private let start: UnsafeMutableRawPointer

    init(bytes: Int) { unsafe start = .allocate(byteCount: bytes, alignment: MemoryLayout<Int>.alignment) }

    /// Called when no snapshot has the block.
    @unsafe func free() { unsafe start.deallocate() }

    /// The number in the first four bytes.
    @inline(__always)
    var count: Int {
        get { unsafe Int(start.load(as: UInt32.self)) }
        nonmutating set { unsafe start.storeBytes(of: UInt32(newValue), as: UInt32.self) }
    }

    /// The number in the next four bytes: the size of a leaf's words, or of the signature that its parent has; 0 without words.
    @inline(__always)
    var wordBytes: Int {
        get { unsafe Int(start.load(fromByteOffset: 4, as: UInt32.self)) }
        nonmutating set { unsafe start.storeBytes(of: UInt32(newValue), toByteOffset: 4, as: UInt32.self) }
    }

    static func == (left: Self, right: Self) -> Bool { unsafe left.start == right.start }

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

    /// The first place of a text at or behind a place; `nil` if there is none.
    ///
    /// Source: Muła, *SIMD-friendly algorithms for substring searching*: 16 places at once are compared by three bytes of the text.
    /// The first two are a space and the begin of a word, so that a run of one letter is no place.
    /// - Parameter text: at least two bytes
    func firstPlace(of text: Column, from place: Int) -> Int? {
        let last = text.count - 1
        let (first, second, end) = (SIMD16(repeating: text[0]), SIMD16(repeating: text[1]), SIMD16(repeating: text[last]))
        var place = place
        while place + last + 16 <= count {
            let isAlike = (vector(place) .== first) .& (vector(place + 1) .== second) .& (vector(place + last) .== end)
            // One byte a place, of ones if the three bytes are alike.
            let places = unsafe unsafeBitCast(isAlike, to: SIMD2<UInt64>.self)
            if places[0] | places[1] != 0 {
                for half in 0..<2 {
                    var rest = places[half]
                    while rest != 0 {
                        let found = place + 8 * half + rest.trailingZeroBitCount / 8
                        if has(text, at: found) { return found }
                        rest &= ~(0xFF &<< UInt64(rest.trailingZeroBitCount))
                    }
                }
            }
            place += 16
        }
        while place + last < count {
            if has(text, at: place) { return place }
            place += 1
        }
        return nil
    }

    /// Eight bytes from a place on, the first as the lowest; a space for each one behind the end.
    @inline(__always)
    func eight(at place: Int) -> UInt64 {
        if place + 8 <= count {
            return unsafe UInt64(littleEndian: UnsafeRawPointer(start + place).loadUnaligned(as: UInt64.self))
        }
        return (place..<count).reversed().reduce(0x2020_2020_2020_2020) { $0 << 8 | UInt64(self[$1]) }
    }

    private func vector(_ place: Int) -> SIMD16<UInt8> {
        assert(0 <= place && place + 16 <= count)
        return unsafe UnsafeRawPointer(start + place).loadUnaligned(as: SIMD16<UInt8>.self)
    }

    private func has(_ text: Column, at place: Int) -> Bool {
        for offset in 0..<text.count where self[place + offset] != text[offset] { return false }
        return true
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

    init(copying column: Column<Element>) { self.init(count: column.count) { $0.copy(column) } }

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
