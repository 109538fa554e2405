import HTTPServer
import HTTPTypes
import TestDatabase
import Testing

@Suite(.api()) struct `The API's documentation page` {
    @Test func `the page shows every operation with a curl command, and its policy admits its own texts alone`() async throws {
        let answer = try await api.send(.get, "/docs")
        #expect(answer.status == 200)
        #expect(answer.header("content-type") == "text/html; charset=utf-8")
        #expect(answer.header("content-security-policy")?.hasPrefix("default-src 'none'; style-src 'sha256-") == true)
        for route in api.routes {
            #expect(answer.body.contains(#"<article id="\#(route.operation)">"#), "\(route.operation)")
        }
        #expect(answer.body.matches(of: #/<pre class="curl">curl /#).count == api.routes.count)
        // What the policy admits, and no reference to another resource.
        #expect(answer.body.contains("<style>\(try Repository.text("Sources/CDocumentation/docs.css"))</style>"))
        #expect(answer.body.contains("<script>\(try Repository.text("Sources/CDocumentation/docs.js"))</script>"))
        for attribute in ["src=", "@import", "url(", "<script ", "<link"] { #expect(!answer.body.contains(attribute)) }
    }
}
