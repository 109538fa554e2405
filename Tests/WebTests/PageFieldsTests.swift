import Encoding
import TestDatabase
import Testing

@Suite struct `The fields of an event on the map page` {
    @Test func `the form and the details of an event have every field of the API's document`() throws {
        let document = try JSON(utf8: Array(Repository.text("Sources/CDocumentation/openapi.json").utf8))
        guard case .object(let properties) = document["components"]?["schemas"]?["EventPatch"]?["properties"] else {
            Issue.record("the document has no properties of an event")
            return
        }
        let names = properties.members.map(\.name).sorted()
        let form = try Repository.text("Sources/CWebPage/page/form.js")
        #expect(form.matches(of: /\{ name: "(\w+)"/).map { String($0.1) }.sorted() == names)
        // The details show the end of an event by a function of time.js.
        let details = try ["details", "time"].map { try Repository.text("Sources/CWebPage/page/\($0).js") }.joined()
        for name in names { #expect(details.contains("event.\(name)"), "the details do not show \(name)") }
    }
}
