internal import DequeModule

/// How a statement goes into libpq's pipeline.
extension Session {
    /// Queues the statements of one transaction, and its end.
    /// - Returns: what libpq will answer; `nil` when the connection is no longer usable
    func queue(_ statements: [SQL]) -> Deque<Step>? {
        var steps: Deque<Step> = []
        let queue = { [self] in statements.allSatisfy { send($0, steps: &steps) } && connection.sendSync() }
        // A single statement runs when PostgreSQL has all of it.
        guard statements.count > 1 ? holdingBack(queue) : queue() else { return nil }
        steps.append(.sync)
        return steps
    }

    private func send(_ statement: SQL, steps: inout Deque<Step>) -> Bool {
        let types = statement.parameters.slots.map(\.type)
        let name = preparedName(for: statement, types: types, steps: &steps)
        steps.append(.execute)
        return connection.send(statement, preparedAs: name, types: types)
    }

    /// The name under which the statement is or is about to be prepared; nil when it goes without.
    private func preparedName(for statement: SQL, types: [UInt32], steps: inout Deque<Step>) -> String? {
        let key = PreparedStatement(text: statement.text, types: types)
        if let name = prepared[key] { return name }
        guard !configuration.isPooled, prepared.count < Self.preparedStatementLimit else { return nil }
        let name = "s\(statementNumber)"
        statementNumber += 1
        guard connection.prepare(name, statement.text, types: types) else { return nil }
        prepared[key] = name
        steps.append(.prepare(key))
        return name
    }
}
