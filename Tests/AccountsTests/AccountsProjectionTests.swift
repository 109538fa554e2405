import EventStore
import TestDatabase
import Testing

@testable import Accounts

@Suite struct `Folding the domain events of accounts` {
    private static let id = AccountID(rawValue: 7)
    private static let first = AccountToken(secret: "token-1").digest
    private static let second = AccountToken(secret: "token-2").digest

    private static func fold(_ events: [(AccountDomainEvent, Int32)]) -> AccountsProjection.Changes {
        AccountsProjection().fold(events.map { .of($0.0, in: "account-7", version: $0.1) })
    }

    @Test func `no domain events and streams of other categories give no rows`() throws {
        #expect(AccountsProjection().fold([]) == AccountsProjection.Changes())
        let created = AccountDomainEvent.created(try .ann())
        #expect(AccountsProjection().fold([.of(created, in: "task-7", version: 1)]) == AccountsProjection.Changes())
    }

    @Test func `a new account gives a row and a token`() throws {
        let created = try Personal<AccountCreated>.ann()
        let changes = Self.fold([(.created(created), 1)])
        #expect(
            changes.created == [
                .init(id: Self.id, version: 1, name: "Ann", email: try .ann(), password: try .numbered(4))
            ])
        #expect(changes.issued == [.init(token: Self.first, account: Self.id, issued: 1)])
        #expect((changes.changed, changes.revoked) == ([], []))
    }

    @Test func `changes of a new account in the same batch are part of its row`() throws {
        let created = try Personal<AccountCreated>.ann()
        let changes = Self.fold([
            (.created(created), 1), (.signedIn(.present(SignedIn(token: Self.second, replaced: nil))), 2),
            (.signedOut(revoked: .present(Self.first)), 3),
            (.passwordChanged(.present(try .numbered(5))), 4),
        ])
        #expect(
            changes.created == [
                .init(id: Self.id, version: 4, name: "Ann", email: try .ann(), password: try .numbered(5))
            ])
        // A token that was issued and revoked in one batch leaves no trace.
        #expect(changes.issued == [.init(token: Self.second, account: Self.id, issued: 2)])
        #expect((changes.changed, changes.revoked) == ([], []))
    }

    @Test func `changes of an account of an earlier batch give its version, its password and the revoked tokens`() throws {
        let signedIn = Self.fold([(.signedIn(.present(SignedIn(token: Self.second, replaced: Self.first))), 21)])
        #expect(signedIn.changed == [.init(id: Self.id, version: 21)])
        #expect(signedIn.issued == [.init(token: Self.second, account: Self.id, issued: 21)])
        #expect(signedIn.revoked == [Self.first])
        let changed = Self.fold([
            (.passwordChanged(.present(try .numbered(5))), 2), (.signedOut(revoked: .present(Self.first)), 3),
        ])
        #expect(changed.changed == [.init(id: Self.id, version: 3, password: try .numbered(5))])
        #expect(changed.revoked == [Self.first])
        #expect(changed.created == [])
    }

    @Test func `an erased account has neither row nor token, also in a rebuild that reads erased members`() throws {
        let expected = AccountsProjection.Changes(erased: [Self.id])
        let created = AccountDomainEvent.created(try .ann())
        func erased(_ type: String) throws -> AccountDomainEvent {
            try AccountDomainEvent.decode(StoredEvent(type: type, format: 1, facts: Array("{}".utf8), personal: .erased))
        }
        #expect(Self.fold([(created, 1), (.erased, 2)]) == expected)
        #expect(Self.fold([(.erased, 2)]) == expected)
        // The first domain events of a rebuild's page, before AccountErased.
        #expect(Self.fold([(try erased("AccountCreated"), 1), (try erased("SignedIn"), 2)]) == expected)
        #expect(Self.fold([(try erased("PasswordChanged"), 3), (try erased("SignedOut"), 4)]) == expected)
    }
}
