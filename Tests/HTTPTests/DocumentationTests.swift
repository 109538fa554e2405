import Encoding
import HTTPServer
import HTTPTypes
import Testing

@testable import HTTP

@Suite struct `The page of the API` {
    private static let html = DocumentationPage.html

    @Test func `is served, and may load nothing else`() async throws {
        try await TestAPI.with { api in
            let answer = try await api.send(.get, "/docs")
            #expect(answer.status == 200)
            #expect(answer.header("content-type") == "text/html; charset=utf-8")
            #expect(answer.header("content-security-policy")?.hasPrefix("default-src 'none'; style-src 'sha256-") == true)
        }
        // Nor asks for anything.
        for attribute in ["src=", "@import", "url(", "<script", "<link"] { #expect(!Self.html.contains(attribute)) }
    }

    @Test func `shows every operation, each with a line for a shell`() async throws {
        try await TestAPI.with { api in
            for route in api.routes { #expect(Self.html.contains(#"<article id="\#(route.operation)">"#), "\(route.operation)") }
            #expect(Self.html.matches(of: #/<pre class="curl">curl /#).count == api.routes.count)
        }
    }

    @Test func `leaves none of the document's marks unread`() {
        // In examples they mean themselves.
        let prose = Self.html.replacing(#/(?s:<pre.*?</pre>|<style>.*?</style>)/#, with: "")
        #expect(!prose.contains("`"))
        #expect(!prose.contains("**"))
        #expect(!prose.contains("{{"))
    }

    @Test func `has a table only where there is something to show`() throws {
        let bare: JSON = ["paths": ["/bare": ["get": ["requestBody": ["content": ["text/plain": [:]]]]]]]
        let operation = try #require(DocumentedOperation.all(in: bare).first)
        #expect(operation.parameters == nil)
        #expect(operation.body?.formats.map { $0.table == nil && !$0.isAsBefore } == [true])
        #expect(Self.html.contains("<p>The same fields.</p>"))
    }

    @Test func `says to a shell what it says in an example, with apostrophes`() {
        #expect(quotedForShell("Fisherman's Wharf") == #"'Fisherman'\''s Wharf'"#)
        #expect(Self.html.contains(#"Fisherman&#39;\&#39;&#39;s Wharf"#))
    }

    @Test func `calls examples what the document calls them, and those without a name nothing`() throws {
        let health = try #require(Self.html.firstMatch(of: #/(?s)<article id="getHealth">(.*?)</article>/#)).1
        #expect(health.contains("<figure><pre>{&quot;status&quot;:&quot;ok&quot;"))
        #expect(Self.html.contains("<figcaption><p>Nothing was sent.</p></figcaption>"))
    }

    @Test func `shows what the document says, as text`() {
        #expect(markedUp("a < b & `c`\n\n**d**") == "<p>a &lt; b &amp; <code>c</code></p>\n<p><strong>d</strong></p>")
        #expect(Self.html.contains("number from -90 to 90"))
        #expect(Self.html.contains("integer from 1 to 1000, 1000 if left out"))
    }
}
