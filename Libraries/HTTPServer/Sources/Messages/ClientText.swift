// Comparing, hashing or splitting a `String` sorts the combining marks of each character. The time grows with the square of their
// number: a field of 32 KB of marks would hold an event loop for a tenth of a second, once for each comparison. So no such text passes
// from a connection to the router.

extension String {
    /// The longest field value, in bytes, that keeps its characters beyond ASCII.
    static let fieldValueLimit = 256

    /// The field value as handlers see it: a question mark stands for each byte beyond ASCII in a long one. No field that this server
    /// reads has such bytes.
    var asFieldValue: String {
        guard utf8.count > Self.fieldValueLimit, !isASCII else { return self }
        return String(decoding: utf8.map { $0 < 0x80 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    private var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }
}
