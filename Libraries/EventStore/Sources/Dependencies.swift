public import Encoding
public import Foundation
internal import Hashing

/// Time and chance, which rules and folds get as values.
public struct Dependencies: Sendable {
    public var now: @Sendable () -> Timestamp
    /// A random UUID from a source that cannot be guessed.
    public var randomUUID: @Sendable () -> UUID

    /// Waits between two attempts; throws `CancellationError` when the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    /// From 0 to 1: which part of a delay is waited for.
    public var jitter: @Sendable () -> Double = { .random(in: 0...1) }

    /// The system's clock and generator.
    public static let system = Dependencies(
        now: { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) },
        randomUUID: { .random() }
    )

    /// For a domain event that no request has named: ids of one time are neighbours in the log's index, where random ones would each
    /// touch a page of their own.
    public var newDomainEventID: UUID { UUID(at: now(), random: randomUUID()) }
}

/// Bytes that nobody can guess, from the system's generator. All at once: Swift's generator asks the system for each eight bytes.
/// - Parameter count: at most 256
func randomBytes(count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let isRandom = unsafe getentropy(&bytes, bytes.count) == 0
    precondition(isRandom, "the system gives no random numbers")
    return bytes
}

extension UUID {
    /// Version 4 (RFC 9562). Foundation's own opens a file for each, which was felt in every command.
    static func random() -> UUID { UUID(randomBytes(count: 16), version: 4) }

    /// Version 7 (RFC 9562): milliseconds since 1970, and what else there is of a random one.
    init(at time: Timestamp, random: UUID) {
        var bytes = random.bytes
        for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: time.milliseconds >> (40 - 8 * Int64(index))) }
        self.init(bytes, version: 7)
    }

    /// The same id for the same name, for commands that have a natural idempotency key: UUID version 8 (RFC 9562) from the
    /// first 128 bits of SHA-256.
    public init(derivedFrom name: String) { self.init(Array(SHA256.hash(name.utf8).prefix(16)), version: 8) }

    /// Variant 2 (RFC 9562) from 16 bytes.
    init(_ bytes: [UInt8], version: UInt8) {
        var bytes = bytes
        bytes[6] = bytes[6] & 0x0F | version << 4
        bytes[8] = bytes[8] & 0x3F | 0x80
        self = bytes.withRawSpan { UUID(bytes: $0) }
    }
}
