internal import NIOCore

/// The body of a request while it arrives. Its bytes count against the budget until the body is taken or dropped.
struct RequestBodyBuffer {
    /// The reason why a part of a body is not kept.
    enum Overflow: Error {
        /// The body exceeds the limit. The parts before it are kept, so that a route can refuse the request.
        case bodyLimit
        /// The budget has no room.
        case budget
    }

    private let limitBytes: Int
    private let budget: BufferBudget
    private var bytes = ByteBuffer()

    init(limitBytes: Int, _ budget: BufferBudget) {
        self.limitBytes = limitBytes
        self.budget = budget
    }

    /// - Throws: ``Overflow``
    mutating func append(_ part: ByteBuffer) throws(Overflow) {
        guard budget.take(part.readableBytes) else { throw .budget }
        // One contiguous buffer, however small the parts are.
        if bytes.readableBytes == 0 { bytes = part } else { bytes.writeImmutableBuffer(part) }
        if bytes.readableBytes > limitBytes { throw .bodyLimit }
    }

    /// Hands the body over.
    mutating func take() -> ByteBuffer {
        let taken = bytes
        drop()
        return taken
    }

    mutating func drop() {
        if bytes.readableBytes > 0 { budget.remove(bytes.readableBytes) }
        bytes = ByteBuffer()
    }
}
