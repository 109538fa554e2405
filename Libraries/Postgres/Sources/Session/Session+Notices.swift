internal import DequeModule

/// What PostgreSQL says unasked.
extension Session {
    /// The function of PostgreSQL that waits for the synchronous standbys. The text of its warnings depends on the server's language.
    private static let replicationWait = "SyncRepWaitForLSN"

    /// Drops all notices but two. PostgreSQL ends an idle session with the first one: jobs that are still in the queue can run on another
    /// connection. With the second one PostgreSQL gives up the wait for the synchronous standbys of a commit.
    func received(severity: String?, from function: String?) {
        switch severity {
        case "FATAL", "PANIC": isGoingAway = true
        // libpq reads no further than the answers of the first job.
        case "WARNING" where function == Self.replicationWait && !inFlight.isEmpty: inFlight[0].isUnreplicated = true
        case _: break
        }
    }
}
