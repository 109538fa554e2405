// C structures of libc belong to the module that is loaded first, which may be this one.
internal import CoreFoundation
internal import Foundation
internal import Logging

/// The maximum number of open files and sockets of the process.
enum DescriptorLimit {
    /// The number of descriptors for the database, files and operators.
    private static let ownNeed = 256

    /// Raises the limit as far as the system allows. The default is low for the sake of programs that use `select`.
    static func raise(for connections: Int, logger: Logger) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        guard limit.rlim_cur < rlim_t(connections + ownNeed) else { return }
        logger.warning(
            "fewer descriptors may be open than HUMON_CONNECTIONS takes",
            metadata: ["descriptors": .stringConvertible(limit.rlim_cur)])
    }
}
