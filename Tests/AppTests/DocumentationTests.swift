import Foundation
import TestServer
import Testing

@Suite(.directory) struct `The curl commands of the API page` {
    /// Runs the preparation of the page with the values of this server, creates twelve events, and then runs each line unchanged.
    @Test func `all curl commands work, and at last those that cancel and replace`() async throws {
        try await HumonProcess.withServer(in: directory) { server, port in
            let page = try await HumonProcess.run(
                ["-sf", "http://127.0.0.1:\(port)/docs"], in: directory, executable: URL(fileURLWithPath: "/usr/bin/curl"))
            let lines = page.output.matches(of: /(?s)<pre class="curl">(.*?)<\/pre>/).map { Self.unescaped(String($0.1)) }
            try #require(lines.count >= 12)
            let preparation = try #require(page.output.firstMatch(of: /(?s)<pre>(HUMON=.*?)<\/pre>/)).1
            let values = Self.unescaped(String(preparation))
                .replacing("http://127.0.0.1:8080", with: "http://127.0.0.1:\(port)")
                .replacing("SECRET=...", with: "SECRET=$(sed -n s/^TB_APP_SECRET=//p .env)")
            let create = try #require(lines.first { $0.contains("-X POST \"$HUMON/v1/events\"") })
            let signUp = try #require(lines.first { $0.contains("/v1/users") })
            // A cancelled event refuses the lines about it, and a new token ends the token of all others: these come last.
            let cancelling = lines.filter { $0.contains(#"-X DELETE "$HUMON/v1/events/12""#) }
            let replacing = lines.filter { $0.contains("/v1/users/me/token") }
            // An erasure ends the token, too. A user of its own is erased, and the account with its new password.
            let erasing = lines.filter { $0.contains(#"-X DELETE "$HUMON/v1/users/me""#) }
            let erasingAccount = lines.filter { $0.contains(#"-X DELETE "$HUMON/v1/accounts/me""#) }
            let last = cancelling + replacing + erasing + erasingAccount
            let others = lines.filter { !last.contains($0) }
            func failing(_ lines: [String]) -> String { lines.map(failing).joined(separator: "\n") }
            func failing(_ line: String) -> String {
                let (options, success) =
                    switch line {
                    // A stream has no end: curl must leave it, with the exit status 28.
                    case _ where line.contains("/changes?"): ("-m 2 ", "; [ $? = 28 ]")
                    // No erasure has the id of the example, and no pass the secret: 404, which is the exit status 22.
                    case _ where ["/v1/erasures/", "/v1/users/return", "/v1/calendars/"].contains(where: line.contains):
                        ("", "; [ $? = 22 ]")
                    case _: ("", "")
                    }
                let name = line.prefix(60).replacing("'", with: "")
                return line.replacing("curl ", with: "curl -sf -o /dev/null \(options)", maxReplacements: 1)
                    + "\(success) || echo 'FAILED: \(name)'"
            }
            #expect(erasing.count == 1 && erasingAccount.count == 1)
            let script = """
                \(values)
                \(signUp) >/dev/null
                for number in 1 2 3 4 5 6 7 8 9 10 11 12; do \(create) >/dev/null; done
                \(failing(others + cancelling + replacing))
                ACCOUNT="user[email]=ann@example.org&user[password]=battery staple horse"
                ACCOUNT_TOKEN=$(curl -s "$HUMON/v1/users/sign_in" -d "$ACCOUNT" | cut -d'"' -f6)
                \(failing(erasingAccount))
                TOKEN=another-device
                \(signUp) >/dev/null
                \(failing(erasing))
                """
            let result = try await HumonProcess.run(["-c", script], in: directory, executable: URL(fileURLWithPath: "/bin/bash"))
            #expect(result.output == "", "\(result.output)")
            #expect(result.status == 0)
        }
    }

    private static func unescaped(_ text: String) -> String {
        text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"").replacing(
            "&#x27;", with: "'"
        )
        .replacing("&amp;", with: "&")
    }
}
