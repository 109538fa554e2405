internal import Foundation
internal import Logging

/// The maximum number of open files and sockets of the process.
enum DescriptorLimit {
    /// The number of descriptors for files, operators and event loops, without those for PostgreSQL. Clients must not take the last one:
    /// Dispatch ends a process in which a timer gets none.
    private static let ownNeed = 256 + 3 * ProcessInfo.processInfo.activeProcessorCount
    /// A connection of PostgreSQL has a socket, and a pipe with two ends.
    private static let databaseNeed = 3

    /// Raises the limit as far as the system allows. The default is low for the sake of programs that use `select`.
    /// - Parameters:
    ///   - connections: how many connections of clients are wanted
    ///   - ofDatabase: how many connections of PostgreSQL the readers may have
    /// - Returns: how many connections of clients the limit leaves room for
    static func raise(for connections: Int, ofDatabase: Int, logger: Logger) -> Int {
        let ownNeed = ownNeed + databaseNeed * ofDatabase
        guard let limit = SystemCalls.raiseDescriptorLimit().map({ Int(clamping: $0) }), limit < connections + ownNeed else {
            return connections
        }
        let room = min(connections, max(limit - ownNeed, limit / 2))
        logger.warning(
            "fewer files may be open than HUMON_CONNECTIONS takes: raise the limit (LimitNOFILE, ulimit -Hn, docker run --ulimit nofile), or lower HUMON_CONNECTIONS",
            metadata: [
                "limit": .stringConvertible(limit), "needed": .stringConvertible(connections + ownNeed),
                "accepted_connections": .stringConvertible(room),
            ])
        return room
    }
}
