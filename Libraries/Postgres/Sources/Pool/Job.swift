internal import Dispatch

/// One piece of work for a connection, done whole before the next one's answers are read.
struct Job: Sendable {
    enum Work: Sendable {
        /// Statements that go out together and are one transaction: all of them or none.
        case pipeline([SQL])
        /// Several statements in one text, by the simple protocol; answers no rows.
        case script(String)
        /// Hands each row to the closure, on the connection's thread.
        case copyOut(String, row: @Sendable (RawSpan) throws -> Void)
        /// Takes pieces of the data from the closure, on the connection's thread, until it gives nil.
        case copyIn(String, next: @Sendable () throws -> [UInt8]?)
        /// Sends nothing: the caller gets the connection for itself, once that has answered everything before.
        case lease
    }

    /// The connection that has done the job, and what its statements answered.
    typealias Answer = (rows: [Rows], connection: ConnectionThread)

    var work: Work
    /// When the caller asked, in seconds of the monotonic clock.
    var askedAt = monotonicSeconds()
    /// The caller is answered by this moment of the monotonic clock; infinite: as long as PostgreSQL makes progress.
    var deadline = Double.infinity
    /// How long PostgreSQL may make no progress on the job before its connection is given up.
    var stallSeconds = Double.infinity
    let reply = Reply<Answer>()

    var isLease: Bool { if case .lease = work { true } else { false } }
}

/// The monotonic clock's seconds, which no change of the system's time affects.
func monotonicSeconds() -> Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }
