public import Encoding
public import Foundation

/// A position of the log with a mark of the recorded event there. After the log lost its end, or after a restore of a backup, the same
/// position has another mark. Every position that a client or an operator sends back leaves the process in this form, as `1234.kbnapcmd`.
public struct LogCursor: Sendable, Hashable {
    public var position: Int64
    /// Bits of the id and of the time of the recorded event; 0 at position 0, and `nil` if they are unknown. An id alone would not do: that
    /// of an attendance is the same in each history.
    public var mark: UInt32?

    /// - Parameters:
    ///   - id: of the recorded event
    ///   - recordedAt: its time; `nil` if it cannot be read
    public init(position: Int64, id: UUID, recordedAt: Timestamp?) {
        let random = id.bytes.withRawSpan { UInt32(bigEndian: $0.load(at: 12)) }
        self.init(position: position, mark: random ^ UInt32(truncatingIfNeeded: recordedAt?.milliseconds ?? 0))
    }

    public init(position: Int64, of envelope: EventEnvelope<some Any>) {
        self.init(position: position, id: envelope.id, recordedAt: envelope.recordedAt)
    }

    /// - Parameter position: a position below 0 counts as 0
    public init(position: Int64, mark: UInt32? = nil) {
        self.position = max(position, 0)
        self.mark = position > 0 ? mark : 0
    }

    /// Whether both may be cursors of one history: they have one position, and no two marks.
    public func agrees(with other: LogCursor) -> Bool {
        position == other.position && (mark == other.mark || mark == nil || other.mark == nil)
    }
}

extension LogCursor: LosslessStringConvertible {
    public var description: String { position > 0 ? "\(position)\(mark.map { ".\($0.letters)" } ?? "")" : "0" }

    /// Reads a cursor, or a bare position, which clients send that know no marks.
    public init?(_ text: String) {
        let parts = text.parts(separatedBy: ".", atMost: 2)
        guard let position = Int64(parts[0]), position >= 0 else { return nil }
        guard parts.count > 1 else {
            self.init(position: position)
            return
        }
        guard let mark = UInt32(letters: parts[1]) else { return nil }
        self.init(position: position, mark: mark)
    }
}
