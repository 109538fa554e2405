import Foundation
import HTTPTypes
import TestDatabase
import TestHTTP
import Testing

@Suite struct `The v1 API in transcripts` {
    @Test(arguments: Transcript.names, [TestingSetup.router, .live])
    func `each request gets the response that its transcript shows`(name: String, setup: TestingSetup) async throws {
        let transcript = try Transcript(name)
        try await TestAPI.with(setup) { try await transcript.play($0) }
    }

    @Test(arguments: ["attendances.http", "events-cancelling.http", "events-own.http", "map.http"])
    func `a server without an index gives the same responses`(name: String) async throws {
        let transcript = try Transcript(name)
        try await TestAPI.with(hasIndex: false) { try await transcript.play($0) }
    }

    @Test func `a line that is not in its place is named`() throws {
        let texts = [
            "200", "GET /a", "GET /a\n200\nGET /b", "GET /a\n{}\n200", "GET /a\n200\n{}", "{}", "GET /a\n200\n404",
        ]
        for (text, line) in zip(texts, [1, 1, 3, 2, 3, 1, 3]) {
            #expect(throws: Transcript.Fault(file: "text", line: line)) { try Transcript("text", text: text) }
        }
        let sound = try Transcript("text", text: "# Words.\na: b\n\nGET /a {}\nc: d\nGET /b\n200 {}\ne: f\n")
        #expect(sound.exchanges.map(\.requests.count) == [2])
    }

    @Test func `a name keeps the first text that it stood for`() {
        var names = TranscriptNames()
        #expect(names.fill(#"{"id":{event},"by":{event}}"#, from: #"{"id":12,"by":7}"#) == #"{"id":12,"by":12}"#)
        #expect(names.fill("{mark:mark}-{event}", from: "abcdefgh-3") == "abcdefgh-12")
        #expect(names.fill("/{event}/{mark}/{other}", from: "") == "/12/abcdefgh/{other}")
    }
}

/// Requests and their exact responses, as a file in `Transcripts` shows them:
///
///     # One sentence with the promise of a scenario.
///     tb-device-token: owner
///
///     POST /v1/events {"name":"Party","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z"}
///     200 {"id":{party}}
///     humon-position: {position}
///
/// The fields below the sentence belong to each request of the scenario: a request's own field replaces the one of that name, and an
/// empty one removes it. Requests in a row, each with its body and its fields, get the same response: the status, the whole body, and
/// the fields that are named; an empty one must be absent. `{name}` stands for the digits that a response has there the first time, and
/// for the same digits afterwards; `{name:uuid}` and other kinds stand for other texts. The scenarios of a file share a database.
struct Transcript: Sendable {
    typealias Field = (name: HTTPField.Name, value: String)

    struct Request: Sendable {
        var method: HTTPRequest.Method
        var target: String
        var body: String
        var fields: [Field]
        var line: Int
    }

    /// Requests that get the same response.
    struct Exchange: Sendable {
        var scenario: String
        var requests: [Request] = []
        /// The status and the body; `nil` before they are read.
        var response: String?
        var fields: [Field] = []
        var line = 0
    }

    /// A line that cannot be read where it stands.
    struct Fault: Error, Equatable, CustomStringConvertible {
        var file: String
        var line: Int
        var description: String { "\(file):\(line): the line is not in its place" }
    }

    private static let folder = Repository.root.appending(path: "Tests/HTTPTests/Transcripts")

    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let names = files.filter { $0.hasSuffix(".http") }.sorted()
        precondition(!names.isEmpty, "no transcripts in \(folder.path)")
        return names
    }()

    let name: String
    private(set) var exchanges: [Exchange] = []

    init(_ name: String) throws {
        try self.init(name, text: String(contentsOf: Self.folder.appending(path: name), encoding: .utf8))
    }

    init(_ name: String, text: String) throws {
        self.name = name
        var exchange = Exchange(scenario: "")
        var shared: [Field] = []
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (number, line) in zip(1..., lines + [""]) {
            let fault = Fault(file: name, line: min(number, lines.count))
            let request = line.wholeMatch(of: /([A-Z]+) (\/\S*)(?: (.*))?/)
            if line.isEmpty || request != nil && exchange.response != nil {
                guard exchange.requests.isEmpty == (exchange.response == nil) else { throw fault }
                if exchange.response != nil { exchanges.append(exchange) }
                exchange = Exchange(scenario: exchange.scenario)
            }
            let last = exchange.requests.indices.last
            if line.isEmpty { continue }
            if let request, let method = HTTPRequest.Method(String(request.1)) {
                exchange.requests.append(
                    Request(
                        method: method, target: String(request.2), body: request.3.map(String.init) ?? "", fields: shared,
                        line: number))
            } else if line.hasPrefix("# "), last == nil {
                (exchange.scenario, shared) = (String(line.dropFirst(2)), [])
            } else if last != nil, exchange.response == nil, line.wholeMatch(of: /[1-5][0-9]{2}( .*)?/) != nil {
                (exchange.response, exchange.line) = (String(line), number)
            } else if let parts = line.wholeMatch(of: /([A-Za-z0-9-]+): ?(.*)/), let field = HTTPField.Name(String(parts.1)) {
                let value = String(parts.2)
                if exchange.response != nil {
                    exchange.fields.append((field, value))
                } else if let last {
                    exchange.requests[last].fields.append((field, value))
                } else {
                    shared.append((field, value))
                }
            } else {
                throw fault
            }
        }
    }

    /// Sends the requests in order, and records an issue at the line of each response that differs.
    func play(_ api: TestAPI) async throws {
        var names = TranscriptNames()
        for exchange in exchanges {
            for request in exchange.requests {
                var fields: HTTPFields = [.accept: "application/json", .contentType: "application/json"]
                for field in request.fields {
                    fields[field.name] = field.value.isEmpty ? nil : names.fill(field.value, from: "")
                }
                let target = names.fill(request.target, from: "")
                let answer = try await api.send(
                    request.method, target, headers: Dictionary(fields.map { ($0.name.rawName, $0.value) }) { $1 },
                    bytes: Array(names.fill(request.body, from: "").utf8))
                let actual = "\(answer.status)" + (answer.bytes.isEmpty ? "" : " \(answer.body)")
                let expected = names.fill(exchange.response ?? "", from: actual)
                var lines = [(expected, actual)]
                for field in exchange.fields {
                    let value = answer.headers[field.name]
                    let expected = field.value.isEmpty ? "no such field" : names.fill(field.value, from: value ?? "")
                    lines.append(("\(field.name): \(expected)", "\(field.name): \(value ?? "no such field")"))
                }
                for (expected, actual) in lines where !expected.utf8.elementsEqual(actual.utf8) {
                    let place = request.line == exchange.line - 1 ? "" : " of line \(request.line)"
                    Issue.record(
                        """
                        \(name):\(exchange.line): \(exchange.scenario)
                        \(request.method) \(target)\(place)
                        expected: \(expected)
                        actual:   \(actual)
                        """,
                        sourceLocation: SourceLocation(
                            fileID: "HTTPTests/\(name)", filePath: Self.folder.appending(path: name).path, line: exchange.line,
                            column: 1))
                }
            }
        }
    }
}

/// The texts that the names of a transcript stand for.
struct TranscriptNames {
    private var texts: [String: String] = [:]

    /// Returns a text with what its names stand for. A new name gets the text that stands in its place in the actual text. Without one
    /// it stays as it is.
    mutating func fill(_ text: String, from actual: String) -> String {
        var filled = ""
        var rest = text[...]
        while let hole = rest.firstMatch(of: /\{([a-z][a-z0-9]*)(?::([a-z]+))?\}/) {
            filled += rest[..<hole.range.lowerBound]
            let name = String(hole.1)
            if texts[name] == nil {
                let place = String(decoding: actual.utf8.dropFirst(filled.utf8.count), as: UTF8.self)
                texts[name] = place.prefixMatch(of: Self.kind(hole.2)).map { String($0.0) }
            }
            filled += texts[name] ?? String(hole.0)
            rest = rest[hole.range.upperBound...]
        }
        return filled + rest
    }

    private static func kind(_ name: Substring?) -> Regex<Substring> {
        switch name {
        case "uuid": /[0-9a-f-]{36}/
        case "mark": /[a-p]{8}/
        case "text": /[0-9A-Za-z_.-]+/
        default: /[0-9]+/
        }
    }
}
