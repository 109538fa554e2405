import Encoding
import HTTPServer
import HTTPTypes
import Testing

@testable import HTTP

@Suite struct `The API's documentation page` {
    private static let html = DocumentationPage.html(OpenAPIDocument.json)

    @Test func `the page is served, and its policy forbids loading anything`() async throws {
        try await TestAPI.with { api in
            let answer = try await api.send(.get, "/docs")
            #expect(answer.status == 200)
            #expect(answer.header("content-type") == "text/html; charset=utf-8")
            #expect(answer.header("content-security-policy")?.hasPrefix("default-src 'none'; style-src 'sha256-") == true)
        }
        // The page contains no reference to another resource either.
        for attribute in ["src=", "@import", "url(", "<script", "<link"] { #expect(!Self.html.contains(attribute)) }
    }

    @Test func `the page shows every operation with a curl command`() async throws {
        try await TestAPI.with { api in
            for route in api.routes { #expect(Self.html.contains(#"<article id="\#(route.operation)">"#), "\(route.operation)") }
            #expect(Self.html.matches(of: #/<pre class="curl">curl /#).count == api.routes.count)
        }
    }

    @Test func `the page contains no unrendered Markdown`() {
        // Examples may contain these characters.
        let prose = Self.html.replacing(#/(?s:<pre.*?</pre>|<style>.*?</style>)/#, with: "")
        #expect(!prose.contains("`"))
        #expect(!prose.contains("**"))
        #expect(!prose.contains("{{"))
    }

    @Test func `an operation without parameters or fields has no empty table`() throws {
        let bare: JSON = ["paths": ["/bare": ["get": ["requestBody": ["content": ["text/plain": [:]]]]]]]
        let operation = try #require(DocumentedOperation.all(in: bare).first)
        #expect(operation.parameters == nil)
        #expect(operation.body?.formats.map { $0.tables.isEmpty && !$0.isAsBefore } == [true])
        #expect(Self.html.contains("<p>The same fields.</p>"))
    }

    @Test func `an example with an apostrophe is quoted for the shell`() {
        #expect(quotedForShell("Fisherman's Wharf") == #"'Fisherman'\''s Wharf'"#)
        #expect(Self.html.contains(#"Fisherman&#39;\&#39;&#39;s Wharf"#))
    }

    @Test func `examples have the titles of the OpenAPI document, and those without a title none`() throws {
        let health = try #require(Self.html.firstMatch(of: #/(?s)<article id="getHealth">(.*?)</article>/#)).1
        #expect(health.contains("<figure><pre>{&quot;status&quot;:&quot;ok&quot;"))
        #expect(Self.html.contains("<figcaption><p>Nothing was sent.</p></figcaption>"))
    }

    @Test func `Markdown and limits of the OpenAPI document are rendered as text`() {
        #expect(markedUp("a < b & `c`\n\n**d**") == "<p>a &lt; b &amp; <code>c</code></p>\n<p><strong>d</strong></p>")
        #expect(Self.html.contains("number from -90 to 90"))
        #expect(Self.html.contains("integer from 1 to 1000, 1000 if left out"))
    }
}
