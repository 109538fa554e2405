import EventStore
import Hashing

@testable import Accounts

let salt22 = String(repeating: "A", count: 22)
let firstDigest = "3f08aace122ee2368432c1ca23a049bc640bafbf00fdf33a52429f38ba12dbf9"
let secondDigest = "0f6bffa9661cb5dd2f3f7b2929f33061f58a7ba7fdd689530b1a306f8ed8f3ec"

extension Scrypt {
    /// Its keys are no protection.
    static let weak = Scrypt(logCost: 4, blockSize: 8, parallelism: 1)
}

extension PasswordHash {
    /// The weak hash of `correct horse` with a salt of zeros.
    static let text = "$scrypt$ln=4,r=8,p=1$\(salt22)$JfCELMl7b1pl6MB8FZ/l9ZQijZnb3MKoEPvpzK+v+v4"

    /// A hash that no password has.
    static func numbered(_ number: Int) throws -> PasswordHash {
        guard let hash = PasswordHash(stored: "$scrypt$ln=\(number),r=8,p=1$\(salt22)$\(String(repeating: "A", count: 43))")
        else {
            throw FormatError("no hash \(number)")
        }
        return hash
    }
}

extension EmailAddress {
    static func ann() throws -> EmailAddress {
        guard let email = EmailAddress("ann@example.org") else { throw FormatError("no address") }
        return email
    }
}

extension Personal<AccountCreated> {
    static func ann(name: String? = "Ann", token: String = "token-1") throws -> Self {
        let token = AccountToken(secret: token).digest
        return .present(AccountCreated(name: name, email: try .ann(), password: try .numbered(4), token: token))
    }
}
