internal import Logging

/// The maximum number of open files and sockets of the process.
enum DescriptorLimit {
    /// The number of descriptors for the database, files and operators.
    private static let ownNeed = 256

    /// Raises the limit as far as the system allows. The default is low for the sake of programs that use `select`.
    static func raise(for connections: Int, logger: Logger) {
        guard let limit = SystemCalls.raiseDescriptorLimit(), limit < UInt64(connections + ownNeed) else { return }
        logger.warning(
            "fewer files may be open than HUMON_CONNECTIONS takes: raise the limit (LimitNOFILE, ulimit -Hn, docker run --ulimit nofile), or lower HUMON_CONNECTIONS",
            metadata: ["limit": .stringConvertible(limit), "needed": .stringConvertible(connections + ownNeed)])
    }
}
