internal import EventStore
internal import HTTP

/// A person whom an operator erases: what the commands of users and of accounts have in common.
struct ErasablePerson: Sendable {
    /// The name of the person's kind in the output, such as `user`.
    var kind: String
    var id: Int64
    /// The categories of the person's other streams, and their names in the output.
    var parts: [(category: String, name: String)]
    /// `nil` for a person who is erased already.
    var count: @Sendable () async throws -> Erasures.Figures?
    var end: @Sendable () async throws -> (erasure: PersonErasure, wasErased: Bool)

    fileprivate struct Outcome: Sendable {
        var fields: [(name: String, value: ReportValue)]
        /// Whether nothing is left that the command was to end.
        var isFinished: Bool
        /// The command that tells of the end, also when an address leads to the person no more.
        var repetition: String
    }

    /// - Throws: ``NegativeResult`` without consent, and the errors of the two functions
    fileprivate func erase(_ consent: ConsentOptions) async throws -> Outcome {
        guard let figures = try await count() else {
            // A repetition changes nothing, and waits for what is left.
            let isFinished = if consent.dryRun { true } else { try await end().erasure.end != nil }
            return outcome(.text("was erased before"), isFinished: isFinished)
        }
        if consent.dryRun { return outcome(.state(.doubtful, "would be erased"), figures, isFinished: true) }
        try await consent.require("This erases \(kind) \(id) for ever. --dry-run shows what it ends.")
        let (erasure, wasErased) = try await end()
        let isFinished = erasure.end != nil
        guard !wasErased else { return outcome(.text("was erased before"), isFinished: isFinished) }
        var erased = outcome(.state(.good, "erased"), figures, isFinished: isFinished)
        erased.fields.append(("position", .number(erasure.position)))
        return erased
    }

    private func outcome(_ state: ReportValue, _ figures: Erasures.Figures? = nil, isFinished: Bool) -> Outcome {
        var fields: [(name: String, value: ReportValue)] = [(kind, .number(id)), ("state", state)]
        if let figures {
            for part in parts { fields.append((part.name, .count(Int64(figures.streams[part.category] ?? 0)))) }
            fields.append(("domain_events", .count(figures.recordedEvents)))
            fields.append(("commands", .count(figures.commands)))
            fields.append(("parked_streams", .count(figures.parkedStreams)))
        }
        return Outcome(fields: fields, isFinished: isFinished, repetition: "humon \(kind)s erase \(id)")
    }
}

extension DatabaseOptions {
    /// Erases a person, with consent, and shows what ended.
    /// - Parameters:
    ///   - unknown: the sentence for a person who does not exist
    ///   - find: finds the person
    /// - Throws: ``NegativeResult`` without consent, for a person who does not exist, and if something is left; the errors of the database
    func erase(
        _ consent: ConsentOptions, _ options: OutputOptions, unknown: String,
        _ find: @escaping @Sendable (ComposedModules) async throws -> ErasablePerson
    ) async throws {
        let outcome = try await with(.asVisitorOfExisting) { database, logger in
            try await database.appending(logger: logger) { modules -> ErasablePerson.Outcome in
                do { return try await find(modules).erase(consent) } catch is UnknownPersonError {
                    throw NegativeResult(unknown)
                }
            }
        }
        try options.output.write(Record(fields: outcome.fields))
        guard outcome.isFinished else {
            throw NegativeResult(
                "Some of it is left, and ends while a server runs. Run \(outcome.repetition) to see the end; humon doctor names what stops it."
            )
        }
    }
}
