public import Logging
internal import Synchronization

/// The lowest level of the messages that are written. It can change while the program runs, for all loggers that share it.
public final class LogThreshold: Sendable {
    private static let levels = Logger.Level.allCases

    /// The index among the levels. Every request reads it, so it is no lock.
    private let index: Atomic<Int>

    public init(_ level: Logger.Level) { index = Atomic(Self.index(of: level)) }

    public var level: Logger.Level {
        get { Self.levels[index.load(ordering: .relaxed)] }
        set { index.store(Self.index(of: newValue), ordering: .relaxed) }
    }

    private static func index(of level: Logger.Level) -> Int { levels.firstIndex(of: level) ?? 0 }
}
