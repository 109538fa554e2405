internal import CLibPQ
internal import DequeModule

/// How a statement goes into libpq's pipeline.
extension Session {
    /// Queues the statements of one transaction, and its end.
    /// - Returns: what libpq will answer; `nil` when the connection is no longer usable
    func queue(_ statements: [SQL]) -> Deque<Step>? {
        var steps: Deque<Step> = []
        let queue = { [self] in statements.allSatisfy { send($0, steps: &steps) } && PQpipelineSync(connection) == 1 }
        // A single statement runs when PostgreSQL has all of it.
        guard statements.count > 1 ? holdingBack(queue) : queue() else { return nil }
        steps.append(.sync)
        return steps
    }

    private func send(_ statement: SQL, steps: inout Deque<Step>) -> Bool {
        let parameters = statement.parameters
        let types = parameters.slots.map(\.type)
        let lengths = parameters.slots.map { Int32($0.length ?? 0) }
        let formats = [Int32](repeating: 1, count: types.count)
        let name = preparedName(for: statement, types: types, steps: &steps)
        steps.append(.execute)
        return parameters.bytes.withUnsafeBytes { buffer in
            // An empty buffer has no address, and a null address would be NULL to libpq: an empty value needs another one.
            let base = buffer.baseAddress ?? UnsafeRawPointer(bitPattern: 1)
            let values = parameters.slots.map { slot in
                slot.length == nil ? nil : base.map { ($0 + slot.offset).assumingMemoryBound(to: CChar.self) }
            }
            let count = Int32(types.count)
            if let name { return PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1) == 1 }
            return PQsendQueryParams(connection, statement.text, count, types, values, lengths, formats, 1) == 1
        }
    }

    /// The name under which the statement is or is about to be prepared; nil when it goes without.
    private func preparedName(for statement: SQL, types: [UInt32], steps: inout Deque<Step>) -> String? {
        let key = PreparedStatement(text: statement.text, types: types)
        if let name = prepared[key] { return name }
        guard !configuration.isPooled, prepared.count < Self.preparedStatementLimit else { return nil }
        let name = "s\(statementNumber)"
        statementNumber += 1
        guard PQsendPrepare(connection, name, statement.text, Int32(types.count), types) == 1 else { return nil }
        prepared[key] = name
        steps.append(.prepare(key))
        return name
    }
}
