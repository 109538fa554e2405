internal import CLibPQ
internal import DequeModule

/// What PostgreSQL says unasked.
extension Session {
    /// The function of PostgreSQL that waits for the synchronous standbys. The text of its warnings depends on the server's language.
    private static let replicationWait = "SyncRepWaitForLSN"

    /// Drops all notices but two. PostgreSQL ends an idle session with the first one: jobs that are still in the queue can run on another
    /// connection. With the second one PostgreSQL gives up the wait for the synchronous standbys of a commit.
    func receiveNotices() {
        PQsetNoticeReceiver(
            connection,
            { session, notice in
                guard let session else { return }
                let severity = PQresultErrorField(notice, Int32(UInt8(ascii: "V"))).map { String(cString: $0) }
                let function = PQresultErrorField(notice, Int32(UInt8(ascii: "R"))).map { String(cString: $0) }
                Unmanaged<Session>.fromOpaque(session).takeUnretainedValue().received(severity: severity, from: function)
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    private func received(severity: String?, from function: String?) {
        switch severity {
        case "FATAL", "PANIC": isGoingAway = true
        // libpq reads no further than the answers of the first job.
        case "WARNING" where function == Self.replicationWait && !inFlight.isEmpty: inFlight[0].isUnreplicated = true
        case _: break
        }
    }
}
