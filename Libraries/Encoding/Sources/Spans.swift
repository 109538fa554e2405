// Safe forms of what the standard library does with pointers only. A span knows its length, and the compiler does not let it outlive
// its bytes.

public import Foundation

extension RawSpan {
    /// The integer at an offset, in the order of this machine's bytes. Ends the process if the span has too few bytes.
    @inlinable
    public func load<Value: FixedWidthInteger & BitwiseCopyable>(_: Value.Type = Value.self, at offset: Int = 0) -> Value {
        unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self)
    }
}

extension [UInt8] {
    @inlinable
    public init(_ bytes: RawSpan) { self = unsafe bytes.withUnsafeBytes { unsafe Array($0) } }

    @inlinable
    public mutating func append(_ bytes: RawSpan) { unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) } }

    /// A `String` would be slower: it copies its bytes with more calls than there are bytes.
    @inlinable
    public mutating func append(_ literal: StaticString) {
        unsafe append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    /// Appends the bytes of an integer, in the order of this machine's bytes.
    @inlinable
    public mutating func append(bytesOf value: some FixedWidthInteger) {
        unsafe Swift.withUnsafeBytes(of: value) { unsafe append(contentsOf: $0) }
    }

    /// Appends the 16 bytes of an id.
    @inlinable
    public mutating func append(_ id: UUID) { unsafe Swift.withUnsafeBytes(of: id.uuid) { unsafe append(contentsOf: $0) } }

    /// Calls a closure with the bytes of a range, and by default with all.
    @inlinable
    public func withRawSpan<Value>(of range: Range<Int>? = nil, _ body: (RawSpan) throws -> Value) rethrows -> Value {
        let bytes = unsafe span.bytes
        return try body(bytes.extracting(range ?? indices))
    }
}

extension String {
    /// Makes the text of bytes. U+FFFD takes the place of bytes that are not UTF-8.
    @inlinable
    public init(utf8 bytes: RawSpan) { self = unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }

    /// Searches the bytes themselves: through the string's iterator it took 3 % of the processor time of a load.
    @inlinable
    public func contains(byte: UInt8) -> Bool {
        unsafe utf8.withContiguousStorageIfAvailable { unsafe $0.contains(byte) } ?? utf8.contains(byte)
    }

    /// Makes a text of ASCII characters, without an array in between.
    @inlinable
    public init(count: Int, _ character: (_ place: Int) -> UInt8) {
        unsafe self.init(unsafeUninitializedCapacity: count) { bytes in
            for place in 0..<count { unsafe bytes[place] = character(place) }
            return count
        }
    }
}

extension Hasher {
    @inlinable
    public mutating func combine(_ bytes: RawSpan) { unsafe bytes.withUnsafeBytes { unsafe combine(bytes: $0) } }
}

extension UUID {
    /// - Parameter bytes: 16 bytes
    @inlinable
    public init(bytes: RawSpan) {
        precondition(bytes.byteCount == 16)
        unsafe self.init(uuid: bytes.unsafeLoadUnaligned(as: uuid_t.self))
    }

    @inlinable
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(self)
        return bytes
    }
}
