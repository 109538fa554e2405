internal import Foundation

/// Wakes a thread that sleeps in `poll`.
final class WakePipe: Sendable {
    let readEnd: Int32
    private let writeEnd: Int32

    init() throws(PostgresError) {
        guard let ends = SystemCalls.makePipe() else {
            throw .unavailable(reason: "no pipe to be had: \(SystemCalls.reason)")
        }
        for end in [ends.readEnd, ends.writeEnd] {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (readEnd, writeEnd) = ends
    }

    deinit {
        Foundation.close(readEnd)
        Foundation.close(writeEnd)
    }

    func wake() {
        _ = SystemCalls.write([0], to: writeEnd)
    }

    func drain() {
        while SystemCalls.drop(from: readEnd) > 0 {}
    }
}
