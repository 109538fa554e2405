import Accounts
import Foundation
import HTTPServer
import HTTPTypes
import Hashing
import TestDatabase
import TestHTTP
import Testing

@testable import HTTP

@Suite struct `The v1 API in transcripts` {
    @Test(arguments: Transcript.names, [TestingSetup.router, .live])
    func `each request gets the response that its transcript shows`(name: String, setup: TestingSetup) async throws {
        let transcript = try Transcript(name)
        try await TestAPI.with(setup) { try await transcript.play($0) }
    }

    private typealias Setup = @Sendable (_ body: @escaping @Sendable (TestAPI) async throws -> Void) async throws -> Void

    private static let setups: [String: Setup] = [
        "account-passwords": { try await TestAPI.with(accountSignInsPerMinute: 2, $0) },
        "account-sign-ins": { try await TestAPI.with(accountSignInsPerMinute: 2, $0) },
        "account-writes": { try await TestAPI.with(writesPerMinute: 2, $0) },
        "address-writes": { try await TestAPI.with(.live, addressWritesPerMinute: 3, $0) },
        "busy": { try await TestAPI.with(hasher: PasswordHasher(parameters: .weak, threadLimit: 0, queueLimit: 0), $0) },
        "cors": { try await TestAPI.with(.live, cors: CORSOrigins("https://app.example.org") ?? .all, $0) },
        "cors-all": { try await TestAPI.with(cors: .all, $0) },
        "devices": { try await TestAPI.with(reads: .devices, $0) },
        "erasures": { try await TestAPI.with(writesPerMinute: 2, $0) },
        "events-alone": { try await TestAPI.with(apps: [.events], $0) },
        "index-full": { try await TestAPI.with(indexBytes: 0, $0) },
        "index-loading": { try await TestAPI.with(loadsIndex: false, $0) },
        "new-token": { try await TestAPI.with(writesPerMinute: 5, $0) },
        "quota": { try await TestAPI.with(eventsPerUser: 2, $0) },
        "returns": { try await TestAPI.with(.live, $0) },
        "sign-ins": { try await TestAPI.with(.live, signInsPerMinute: 2, $0) },
        "sign-ups": { try await TestAPI.with(.live, signUpsPerMinute: 1, $0) },
        "sign-ups-a-day": { try await TestAPI.with(.live, signUpsPerDay: 2, $0) },
        "tasks-alone": { try await TestAPI.with(apps: [.tasks], $0) },
        "unknown-tokens": { try await TestAPI.with(.live, reads: .devices, writesPerMinute: 3, $0) },
        "writes": { try await TestAPI.with(writesPerMinute: 2, $0) },
    ]

    @Test(arguments: setups.keys.sorted())
    func `a server with a setting gives the responses that its transcript shows`(name: String) async throws {
        let transcript = try Transcript("settings/\(name).http")
        guard let setup = Self.setups[name] else { throw Transcript.Fault(file: name, line: 1) }
        try await setup { try await transcript.play($0) }
    }

    @Test func `a transcript is read as a whole, and a name keeps the first text that it stood for`() throws {
        let sound = try Transcript("text", text: "# Words.\na: b\n\nGET /a {}\nc: d\nor c: e\nGET /b\n200 {}\ne: f\n")
        #expect(sound.exchanges.map(\.requests.count) == [3] && sound.exchanges.map { $0.fields.map(\.value) } == [["f"]])
        var names = TranscriptNames()
        #expect(names.fill(#"{"id":{event},"by":{event}}"#, from: #"{"id":12,"by":7}"#) == #"{"id":12,"by":12}"#)
        #expect(names.fill("{mark:mark}-{event}/{other}", from: "abcdefgh-3/") == "abcdefgh-12/{other}")
    }

    /// Arguments that are missing would be no failure.
    @Test func `the folder of transcripts is found, and each one of settings has its setting`() throws {
        #expect(Transcript.names.contains("generations.http"))
        let folder = Repository.root.appending(path: "Tests/HTTPTests/Transcripts/settings").path
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(files.sorted() == Self.setups.keys.map { "\($0).http" }.sorted())
    }
}

/// Requests and their exact responses, as a file in `Transcripts` shows them:
///
///     # One sentence with the promise of a scenario.
///     tb-device-token: owner
///     POST /v1/events {"name":"Party","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z"}
///     200 {"id":{party}}
///     DELETE /v1/events/{party}
///     if-match: "1"
///     or if-match: "2"
///     412 {"message":"Precondition Failed"}
///
/// The fields below the sentence belong to each request of the scenario: a request's own field replaces the one of that name, and an
/// empty one removes it. `or` repeats the request with another field. Requests in a row get the same response: the status, the whole
/// body, and the fields that are named; an empty one must be absent. `{name}` stands for the digits that a response has there the first
/// time, and for the same digits afterwards; `{name:uuid}` and other kinds stand for other texts, and `{empty}` for none. The scenarios
/// of a file share a database.
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
    }

    struct Fault: Error {
        var file: String
        /// The line that is not in its place.
        var line: Int
    }

    private static let folder = Repository.root.appending(path: "Tests/HTTPTests/Transcripts")

    static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0.hasSuffix(".http") }.sorted()

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
            guard !line.isEmpty else { continue }
            let last = exchange.requests.indices.last
            if let request, let method = HTTPRequest.Method(String(request.1)) {
                let (target, body) = (String(request.2), String(request.3 ?? ""))
                exchange.requests.append(Request(method: method, target: target, body: body, fields: shared, line: number))
            } else if line.hasPrefix("# "), last == nil {
                (exchange.scenario, shared) = (String(line.dropFirst(2)), [])
            } else if last != nil, exchange.response == nil, line.wholeMatch(of: /[1-5][0-9]{2}( .*)?/) != nil {
                exchange.response = String(line)
            } else if let parts = line.wholeMatch(of: /(or )?([A-Za-z0-9-]+): ?(.*)/),
                parts.1 == nil || last != nil && exchange.response == nil, let fieldName = HTTPField.Name(String(parts.2))
            {
                let field: Field = (fieldName, String(parts.3))
                if exchange.response != nil {
                    exchange.fields.append(field)
                } else if let last {
                    var request = exchange.requests[last]
                    (request.fields, request.line) = (request.fields + [field], number)
                    if parts.1 == nil { exchange.requests[last] = request } else { exchange.requests.append(request) }
                } else {
                    shared.append(field)
                }
            } else {
                throw fault
            }
        }
    }

    /// Sends the requests in order, and records an issue at the line of each response that differs.
    func play(_ api: TestAPI) async throws {
        let path = Self.folder.appending(path: name).path
        var names = TranscriptNames()
        for exchange in exchanges {
            for request in exchange.requests {
                var fields: HTTPFields = [.accept: "application/json", .contentType: "application/json"]
                for field in request.fields {
                    fields[field.name] = field.value.isEmpty ? nil : names.fill(field.value, from: "")
                }
                let target = names.fill(request.target, from: "")
                let headers = Dictionary(fields.map { ($0.name.rawName, $0.value) }) { $1 }
                let body = Array(names.fill(request.body, from: "").utf8)
                let answer = try await api.send(request.method, target, headers: headers, bytes: body)
                let actual = "\(answer.status)" + (answer.bytes.isEmpty ? "" : " \(answer.body)")
                let expected = names.fill(exchange.response ?? "", from: actual)
                var lines = [(expected, actual)]
                for field in exchange.fields {
                    let value = answer.headers[field.name]
                    let expected = field.value.isEmpty ? "no such field" : names.fill(field.value, from: value ?? "")
                    lines.append(("\(field.name): \(expected)", "\(field.name): \(value ?? "no such field")"))
                }
                for (expected, actual) in lines where !expected.utf8.elementsEqual(actual.utf8) {
                    Issue.record(
                        """
                        \(name):\(request.line): \(exchange.scenario)
                        \(request.method) \(target)
                        expected: \(expected)
                        actual:   \(actual)
                        """,
                        sourceLocation: SourceLocation(
                            fileID: "HTTPTests/\(name)", filePath: path, line: request.line, column: 1))
                }
            }
        }
    }
}

/// The texts that the names of a transcript stand for.
struct TranscriptNames {
    private var texts = ["empty": ""]

    /// Returns a text with what its names stand for. A new name gets the text that stands in its place in the actual text. Without one
    /// it stays as it is.
    mutating func fill(_ text: String, from actual: String) -> String {
        var (filled, rest) = ("", text[...])
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
