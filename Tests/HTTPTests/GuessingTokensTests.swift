import HTTPServer
import HTTPTypes
import Testing

@testable import HTTP

@Suite(.api()) struct `Guessing tokens` {
    @Test func `an address has 120 unknown tokens a minute without any setting, and short tokens at sign-up count`() async throws
    {
        for number in 1...SharedLimits.unknownTokensPerMinute {
            if number.isMultiple(of: 2) {
                #expect(try await api.send(.get, "/v1/users/me", token: "guess \(number)").status == 401)
            } else {
                #expect(try await api.signUp("phone \(number)").status == 200)
            }
        }
        #expect(try await api.send(.get, "/v1/users/me", token: "guess").status == 429)
        #expect(try await api.send(.post, "/v1/events", token: "guess", TestAPI.required).status == 429)
        #expect(try await api.signUp("guess").status == 429)
        // This token cannot be guessed.
        #expect(try await api.signUp("0b81d3c8-7f5f-4e2a-9d52-6a51c2f3e9aa").status == 200)
    }
}

@Suite struct `Guessing passes` {
    @Test func `an address has 10 returns a minute and a node 300, without any setting`() throws {
        let start = ContinuousClock.now
        let limits = SharedLimits(API.Settings(appSecret: SharedSecret(TestAPI.secret)), now: { start })
        for number in 1...30 {
            let address = NetworkAddress("198.51.100.\(number)")
            for _ in 1...SharedLimits.returnsPerMinute { try limits.takeReturn(from: address) }
            #expect(throws: HTTPError.tooManyRequests(retryAfterSeconds: 6)) { try limits.takeReturn(from: address) }
        }
        #expect(SharedLimits.allReturnsPerMinute == 300)
        #expect(throws: HTTPError.tooManyRequests(retryAfterSeconds: 1)) {
            try limits.takeReturn(from: NetworkAddress("198.51.100.31"))
        }
    }
}
