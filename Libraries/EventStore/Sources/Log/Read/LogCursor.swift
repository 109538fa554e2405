internal import Encoding
public import Foundation

/// A position of the log with a mark of the recorded event there. After the log lost its end, or after a restore of a backup, the same
/// position has another mark. Every position that a client or an operator's tool sends back leaves the process in this form, as
/// `1234.kbnapcmd`.
public struct LogCursor: Sendable, Hashable {
    public var position: Int64
    /// Random bits of the id of the recorded event; 0 at position 0, and `nil` if the id is unknown.
    public var mark: UInt32?

    /// - Parameters:
    ///   - position: a position below 0 counts as 0
    ///   - id: of the recorded event; `nil` if it is unknown
    public init(position: Int64, id: UUID? = nil) {
        self.init(position: position, mark: id?.mark)
    }

    public init(position: Int64, mark: UInt32?) {
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

extension UUID {
    fileprivate var mark: UInt32 { bytes.withRawSpan { UInt32(bigEndian: $0.load(at: 12)) } }
}
