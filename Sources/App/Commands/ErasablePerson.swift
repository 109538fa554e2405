internal import ArgumentParser
internal import Encoding
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
    var count: @Sendable () async throws -> PersonErasures.Figures?
    var end: @Sendable () async throws -> (erasure: PersonErasure, wasErased: Bool)

    fileprivate struct Outcome: Sendable {
        var record: JSONObject
        /// Whether nothing is left that the command was to end.
        var isFinished: Bool
        /// The command that tells of the end, also when an address leads to the person no more.
        var repetition: String
    }

    /// - Throws: ``NegativeResult`` without consent, and the errors of the two functions
    fileprivate func erase(_ consent: ConsentOptions, isTrial: Bool) async throws -> Outcome {
        guard let figures = try await count() else {
            // A repetition changes nothing, and waits for what is left.
            let isFinished = if isTrial { true } else { try await end().erasure.end != nil }
            return outcome("was erased before", isFinished: isFinished)
        }
        if isTrial { return outcome("would be erased", figures, isFinished: true) }
        try await consent.require("This erases \(kind) \(id) for ever. --dry-run shows what it ends.")
        let (erasure, wasErased) = try await end()
        let isFinished = erasure.end != nil
        guard !wasErased else { return outcome("was erased before", isFinished: isFinished) }
        var erased = outcome("erased", figures, isFinished: isFinished)
        erased.record["position"] = JSON(erasure.position)
        return erased
    }

    private func outcome(_ state: String, _ figures: PersonErasures.Figures? = nil, isFinished: Bool) -> Outcome {
        var record: JSONObject = [kind: JSON(id), "state": .string(state)]
        if let figures {
            for part in parts { record[part.name] = JSON(figures.streams[part.category] ?? 0) }
            record["domain_events"] = JSON(figures.recordedEvents)
            record["commands"] = JSON(figures.commands)
            record["parked_streams"] = JSON(figures.parkedStreams)
        }
        return Outcome(record: record, isFinished: isFinished, repetition: "humon \(kind)s erase \(id)")
    }
}

/// The options of a command that erases a person.
struct ErasureOptions: ParsableArguments {
    @OptionGroup var consent: ConsentOptions
    @OptionGroup var trial: TrialOptions
    @OptionGroup var options: CommandOptions

    /// Erases a person, with consent, and shows what ended.
    /// - Parameters:
    ///   - unknown: the sentence for a person who does not exist
    ///   - find: finds the person
    /// - Throws: ``NegativeResult`` without consent, for a person who does not exist, and if something is left; the errors of the database
    func erase(
        unknown: String, _ find: @escaping @Sendable (ComposedModules) async throws -> ErasablePerson
    ) async throws {
        let outcome = try await options.database.with(.existing) { database, logger in
            try await database.appending(logger: logger) { modules -> ErasablePerson.Outcome in
                do { return try await find(modules).erase(consent, isTrial: trial.dryRun) } catch is UnknownPersonError {
                    throw NegativeResult(unknown)
                }
            }
        }
        try options.output.write(outcome.record)
        guard outcome.isFinished else {
            throw NegativeResult(
                "Some of it is left, and ends while a server runs. Run \(outcome.repetition) to see the end; humon doctor names what stops it."
            )
        }
    }
}
