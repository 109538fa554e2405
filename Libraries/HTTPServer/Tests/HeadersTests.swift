import HTTPTypes
import TestHTTP
import TestServer
import Testing

@testable import HTTPServer

@Suite struct `The characters of a request's head` {
    @Test(arguments: ["", "a b", String(repeating: "a", count: 1_000), String(repeating: "\u{E9}", count: 128)])
    func `an ASCII value and a short one stay as they are`(value: String) {
        #expect(Array(value.asFieldValue.utf8) == Array(value.utf8))
    }

    @Test func `in a long value a question mark stands for each byte beyond ASCII`() {
        let value = String(repeating: "a", count: 300) + "\u{E9}, e\u{301}"
        #expect(value.asFieldValue == String(repeating: "a", count: 300) + "??, e??")
    }

    /// Comparing and hashing many combining marks takes a time that grows with the square of their number.
    @Test func `a long field on the wire has ASCII only`() async throws {
        let route = Route(.get, "/") { request, _ in Response(text: request.headers[.userAgent] ?? "") }
        try await Router(routes: [route], logger: .silent).withServer { _, port in
            let connection = try RawConnection(port: port)
            let value = String(repeating: "a", count: 300)
            try connection.send(Wire.get("/", "User-Agent: \(value)\u{301}\r\nConnection: close\r\n"))
            #expect(try await connection.receive().text.hasSuffix("\r\n\r\n\(value)??"))
        }
    }
}

@Suite struct `Reading a header field` {
    private static let name = HTTPField.Name.ifNoneMatch

    @Test(arguments: [[], ["\"1\""], ["\"1\"", "\"2\""], [""], ["", "\"2\""]])
    func `a field has the library's value, however often it is sent`(values: [String]) {
        var fields: HTTPFields = [.accept: "*/*"]
        for value in values { fields.append(HTTPField(name: Self.name, value: value)) }
        fields.append(HTTPField(name: .userAgent, value: "a phone"))
        #expect(fields.value(of: Self.name) == fields[Self.name])
    }
}
