// C structures of libc belong to the module that is loaded first, which may be this one.
internal import CoreFoundation
internal import Foundation
internal import Logging

/// How many files and sockets the process may have open at a time.
enum DescriptorLimit {
    /// For the database, files and operators.
    private static let ownNeed = 256

    /// Raises the limit as far as the system lets it be raised: the usual one is kept low for programs that use `select`.
    static func raise(for connections: Int, logger: Logger) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        guard limit.rlim_cur < rlim_t(connections + ownNeed) else { return }
        logger.warning(
            "fewer descriptors may be open than HUMON_CONNECTIONS takes", metadata: ["descriptors": "\(limit.rlim_cur)"])
    }
}
