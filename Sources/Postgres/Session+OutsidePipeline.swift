internal import CLibPQ

/// Work that libpq does not do in a pipeline. It blocks the connection's thread, which is there for that.
extension Session {
    func performOutsidePipeline(_ job: Job, front: Connection) -> Bool {
        guard PQexitPipelineMode(connection) == 1, PQsetnonblocking(connection, 0) == 0 else {
            front.answer(job, with: .failure(PostgresError.connectionLost(mayHaveRun: false)))
            return false
        }
        let result: Result<[Rows], any Error>
        do {
            switch job.work {
            case .pipeline: preconditionFailure("a pipeline is sent in the pipeline")
            case .script(let text): try finish(PQexec(connection, text))
            case .copyOut(let text, let row): try copyOut(text, row: row)
            case .copyIn(let text, let next): try copyIn(text, next: next)
            }
            result = .success([])
        } catch {
            result = .failure(error)
        }
        front.answer(job, with: result)
        return PQsetnonblocking(connection, 1) == 0 && PQenterPipelineMode(connection) == 1
    }

    private func copyOut(_ text: String, row: (UnsafeRawBufferPointer) throws -> Void) throws {
        try finish(PQexec(connection, text), expecting: PGRES_COPY_OUT)
        var thrown: (any Error)?
        var data: UnsafeMutablePointer<CChar>?
        while true {
            let length = PQgetCopyData(connection, &data, 0)
            guard length > 0 else { break }
            defer { PQfreemem(data) }
            guard thrown == nil else { continue }
            do { try row(UnsafeRawBufferPointer(start: data, count: Int(length))) } catch {
                thrown = error
                // Not from another thread: there it might come late, and hit the next statement.
                makeCancelHandle()?.cancel()
            }
        }
        let ended = Result { try drain() }
        if let thrown { throw thrown }
        try ended.get()
    }

    private func copyIn(_ text: String, next: () throws -> [UInt8]?) throws {
        try finish(PQexec(connection, text), expecting: PGRES_COPY_IN)
        var thrown: (any Error)?
        do {
            while let bytes = try next() {
                let isTaken = bytes.withUnsafeBytes { buffer in
                    PQputCopyData(connection, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(buffer.count)) == 1
                }
                guard isTaken else { throw PostgresError.connectionLost(mayHaveRun: false) }
            }
        } catch {
            thrown = error
        }
        _ = PQputCopyEnd(connection, thrown == nil ? nil : "the source of the data failed")
        let ended = Result { try drain() }
        if let thrown { throw thrown }
        try ended.get()
    }

    /// Reads to the end of a command and throws what it failed with.
    private func drain() throws {
        var failed: PostgresError?
        while let result = PQgetResult(connection) {
            if PQresultStatus(result) == PGRES_FATAL_ERROR, failed == nil { failed = failure(of: result) }
            PQclear(result)
        }
        if let failed { throw failed }
    }

    private func finish(_ result: OpaquePointer?, expecting wanted: ExecStatusType? = nil) throws {
        guard let result else { throw PostgresError.connectionLost(mayHaveRun: true) }
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        if status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE { throw failure(of: result) }
        precondition(wanted == nil || status == wanted, "the statement is not the COPY that it is said to be")
    }
}
