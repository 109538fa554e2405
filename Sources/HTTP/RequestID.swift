internal import Synchronization

/// Names for requests: 32 hexadecimal digits, of which 16 are the process's and 16 count. Like Hummingbird's, of which
/// each is put together from several texts.
enum RequestID {
    private static let process = UInt64.random(in: .min ... .max)
    private static let next = Atomic(UInt64.random(in: .min ... .max))

    static func new() -> String {
        let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
        return String(unsafeUninitializedCapacity: 32) { digits in
            for place in 0..<16 {
                digits[15 - place] = digit(process >> (4 * place))
                digits[31 - place] = digit(number >> (4 * place))
            }
            return 32
        }
    }

    /// Of the last four bits.
    private static func digit(_ number: UInt64) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: number & 0xF)
        return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
    }
}
