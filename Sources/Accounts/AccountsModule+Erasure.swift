public import EventStore

extension AccountsModule {
    /// Erases an account for its owner, who knows the password: name, address, password, tokens, and all tasks with every word in them, in
    /// the log and in the read models. Facts stay: that there was an account, and when. The address may sign up again, as another account.
    ///
    /// No token of the account is alive from the append on. ``EventStore/ErasureSubscription`` does the rest, for which this function waits
    /// ten seconds at most.
    /// - Parameter client: as of ``signUp(_:from:context:)``
    /// - Throws: ``AccountRejection``, ``PasswordHasherBusyError``, `FormatError`, and the errors of `CommandHandler.handle(_:by:_:)`
    public func erase(
        _ command: EraseAccount, by caller: AccountToken, from client: String, context: CommandContext
    ) async throws -> PersonErasure {
        guard let current = command.current else { throw AccountRejection.wrongCurrentPassword }
        var verified: PasswordHash?
        let stream = try await commands.handle(context) {
            let account = try await account(of: caller, knowing: current, &verified, for: client)
            return erasures.decision(
                AccountDomainEvent.erased, of: account.id.stream, after: account.version, by: nil)
        }.place.stream
        guard let erasure = try await erasures.erasure(of: stream) else { throw AccountRejection.unknownToken }
        return erasure
    }

    /// Erases an account for an operator. A repetition changes nothing.
    /// - Returns: as `PersonErasures.erase(_:with:by:_:_:)`
    /// - Throws: the errors of `PersonErasures.erase(_:with:by:_:_:)`
    package func erase(_ id: AccountID, context: CommandContext) async throws -> (erasure: PersonErasure, wasErased: Bool) {
        try await erasures.erase(id.stream, with: AccountDomainEvent.erased, by: nil, commands, context)
    }
}
