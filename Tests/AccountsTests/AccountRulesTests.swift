import Encoding
import EventStore
import Testing

@testable import Accounts

/// The validation errors that a decision throws.
private func faults<Value>(of decision: @autoclosure () throws(AccountRejection) -> Value) -> [String] {
    do throws(AccountRejection) {
        _ = try decision()
        return []
    } catch {
        guard case .invalid(let errors) = error else { return ["\(error)"] }
        return errors.map { "\($0.pointer) \($0.code.rawValue) \($0.detail)" }
    }
}

@Suite struct `The fields of a sign-up` {
    private static func sentences(_ fields: JSON) -> [String] {
        faults(of: try SignUp(fields).validated())
    }

    @Test func `an address and a password of eight characters are enough`() throws {
        let valid = try SignUp(["email": " Ann@Example.org", "password": "12345678"]).validated()
        #expect(valid.name == nil)
        #expect(valid.email == EmailAddress("ann@example.org"))
        #expect(valid.password.utf8 == Array("12345678".utf8))
    }

    @Test func `all validation errors come at once, in the order name, address, password`() {
        #expect(
            Self.sentences([:]) == [
                "/user/email blank Email can't be blank", "/user/password blank Password can't be blank",
            ])
        #expect(
            Self.sentences(["name": .number("1"), "email": .bool(true), "password": .array([])]) == [
                "/user/name not_a_text Name is not a text", "/user/email not_an_email_address Email is invalid",
                "/user/password not_a_text Password is not a text",
            ])
        #expect(
            Self.sentences(["email": "ann@example.org", "password": "1234567"]) == [
                "/user/password too_short Password is too short (minimum is 8 characters)"
            ])
        // The length counts composed characters.
        let decomposed = JSON.string(String(repeating: "e\u{301}", count: 7))
        #expect(
            Self.sentences(["email": "a@b", "password": decomposed]) == [
                "/user/password too_short Password is too short (minimum is 8 characters)"
            ])
    }

    @Test func `texts beyond the limits and null characters are refused`() {
        let long = JSON.string(String(repeating: "a", count: 257))
        #expect(
            Self.sentences(["name": long, "email": "ann@example.org", "password": long]) == [
                "/user/name too_long Name is too long (maximum is 255 characters)",
                "/user/password too_long Password is too long (maximum is 256 characters)",
            ])
        #expect(
            Self.sentences(["name": "A\0", "email": "ann@example.org", "password": "12345678"]) == [
                "/user/name invalid_characters Name contains a null character"
            ])
    }

    @Test(arguments: [.null, "", " \n"] as [JSON]) func `a blank name is none, and a blank address is missing`(blank: JSON) throws
    {
        let valid = try SignUp(["name": blank, "email": "a@b", "password": "12345678"]).validated()
        #expect(valid.name == nil)
        #expect(
            Self.sentences(["email": blank, "password": "12345678"]) == ["/user/email blank Email can't be blank"])
    }
}

@Suite struct `The fields of a change of the password` {
    @Test func `both passwords are required, and the new one has the limits of a sign-up`() throws {
        let blank = "/user/current_password blank Current password can't be blank"
        #expect(faults(of: try ChangePassword(nil)) == [blank, "/user/password blank Password can't be blank"])
        #expect(
            faults(of: try ChangePassword(["current_password": .number("1"), "password": "short"])) == [
                blank, "/user/password too_short Password is too short (minimum is 8 characters)",
            ])
        #expect(faults(of: try ChangePassword(["current_password": "x", "password": "12345678"])) == [])
        let command = try ChangePassword([
            "current_password": .string(String(repeating: "a", count: 257)), "password": "12345678",
        ])
        #expect(command.current == nil)
    }
}

@Suite struct `The rules of signing in` {
    private static func account(tokens: Int64) throws -> Account {
        Account(
            id: AccountID(rawValue: 7), version: 3, password: try .numbered(4), tokenCount: tokens,
            oldestToken: tokens > 0 ? AccountToken(secret: "token-1").digest : nil)
    }

    @Test(arguments: [nil, [:], ["email": .number("1"), "password": []], ["email": "none", "password": .null]] as [JSON?])
    func `fields that are missing or no text are a wrong address and a wrong password`(fields: JSON?) {
        let command = SignIn(fields)
        #expect(command.email == nil)
        #expect(command.password?.utf8.isEmpty == true)
    }

    @Test func `a sign-in adds a token, and the 21st replaces the oldest`() throws {
        let token = AccountToken(secret: "token-2").digest
        #expect(decideSignIn(try Self.account(tokens: 0), token: token) == SignedIn(token: token, replaced: nil))
        #expect(decideSignIn(try Self.account(tokens: 19), token: token) == SignedIn(token: token, replaced: nil))
        let replaced = AccountToken(secret: "token-1").digest
        #expect(decideSignIn(try Self.account(tokens: 20), token: token) == SignedIn(token: token, replaced: replaced))
    }

    @Test func `a wrong address and a wrong password are one rejection, which says nothing more`() {
        #expect(AccountRejection.wrongCredentials.kind == .unauthorized)
        #expect(AccountRejection.wrongCredentials.message == "Invalid email or password")
        #expect(AccountRejection.unknownToken.kind == .unauthorized)
        #expect(AccountRejection.unknownToken.message == nil)
    }
}
