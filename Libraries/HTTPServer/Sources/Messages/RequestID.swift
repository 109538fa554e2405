internal import Encoding
internal import Synchronization

/// Ids of requests: 32 hexadecimal digits, a keyed hash of a counter. So an id tells neither the number nor the order of requests, and
/// costs no system call.
enum RequestID {
    /// Maximum number of bytes of a proxy's request id.
    private static let lengthLimit = 128

    private static let key = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
    private static let next = Atomic(UInt64.random(in: .min ... .max))

    static func new() -> String {
        let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
        let (first, second) = (hash(number, half: 0), hash(number, half: 1))
        return String(count: 32) { place in digit(place < 16 ? first >> (4 * (15 - place)) : second >> (4 * (31 - place))) }
    }

    /// SipHash-1-3, keyed by the process in Swift and with the key here.
    private static func hash(_ number: UInt64, half: UInt8) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(key.0)
        hasher.combine(key.1)
        hasher.combine(number)
        hasher.combine(half)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// Whether a proxy's request id may appear in responses and logs.
    static func isUsable(_ id: String) -> Bool {
        (1...lengthLimit).contains(id.utf8.count) && id.utf8.allSatisfy { $0.isUnreserved && $0 != UInt8(ascii: "~") }
    }

    /// The hexadecimal digit of the lowest four bits.
    private static func digit(_ number: UInt64) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: number & 0xF)
        return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
    }
}
