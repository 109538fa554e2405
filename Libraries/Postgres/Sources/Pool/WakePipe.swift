internal import Foundation

/// Wakes a thread that sleeps in `poll`.
final class WakePipe: Sendable {
    let readEnd: Int32
    private let writeEnd: Int32

    init() throws(PostgresError) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw .unavailable(reason: "no pipe to be had: \(String(cString: strerror(errno)))") }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    deinit {
        Foundation.close(readEnd)
        Foundation.close(writeEnd)
    }

    func wake() {
        var byte: UInt8 = 0
        _ = write(writeEnd, &byte, 1)
    }

    func drain() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(readEnd, &bytes, bytes.count) > 0 {}
    }
}
