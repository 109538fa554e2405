import Encoding
import Foundation
import Postgres
import Testing

@Suite struct `Binding arrays` {
    @Test func `an empty array of every type is bound`() async throws {
        try await expectTexts([
            ("SELECT \([Bool]())::text", "{}"), ("SELECT \([Int16]())::text", "{}"), ("SELECT \([Int32]())::text", "{}"),
            ("SELECT \([Int64]())::text", "{}"), ("SELECT \([Double]())::text", "{}"), ("SELECT \([String]())::text", "{}"),
            ("SELECT \([Bytea]())::text", "{}"), ("SELECT \([UUID]())::text", "{}"), ("SELECT \([Timestamp]())::text", "{}"),
        ])
    }

    @Test func `an array of values of every type is bound`() async throws {
        let id = try #require(UUID(uuidString: "01234567-89AB-CDEF-FEDC-BA9876543210"))
        let moment = try #require(Timestamp(rfc3339: "2013-09-16T00:00:00.500Z"))
        try await expectTexts([
            ("SELECT \([true, false])::text", "{t,f}"),
            ("SELECT \([Int16.min, 0, .max])::text", "{-32768,0,32767}"),
            ("SELECT \([Int32.min, 0, .max])::text", "{-2147483648,0,2147483647}"),
            ("SELECT \([Int64.min, 0, .max])::text", "{-9223372036854775808,0,9223372036854775807}"),
            ("SELECT \([0.1, -1e300, .infinity])::text", "{0.1,-1e+300,Infinity}"),
            ("SELECT \(["tea", "a b", ",", "{}", "\"", "\\"])::text", #"{tea,"a b",",","{}","\"","\\"}"#),
            ("SELECT \([Bytea(bytes: []), Bytea(bytes: [0, 255])])::text", #"{"\\x","\\x00ff"}"#),
            ("SELECT \([id])::text", "{01234567-89ab-cdef-fedc-ba9876543210}"),
            ("SELECT \([moment])::text", #"{"2013-09-16 00:00:00.5+00"}"#),
        ])
    }

    @Test func `an array keeps NULLs apart from the empty text and from the text NULL`() async throws {
        try await expectTexts([
            ("SELECT \([nil, "", "NULL", nil] as [String?])::text", #"{NULL,"","NULL",NULL}"#),
            ("SELECT \([nil, 1] as [Int64?])::text", "{NULL,1}"),
            ("SELECT \([nil] as [Double?])::text", "{NULL}"),
        ])
    }

    @Test func `an array becomes rows in order`() async throws {
        try await withClient { client in
            let numbers = (0..<10_000).map { Int64($0) }
            let read = try await client.query("SELECT n FROM unnest(\(numbers)) WITH ORDINALITY AS t (n, place) ORDER BY place")
            #expect(try read.column(Int64.self) == numbers)
        }
    }

    private func expectTexts(
        _ statements: [(SQL, String)], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await withClient { client async throws in
            for (statement, text) in statements {
                #expect(try await client.query(statement).column(String.self) == [text], sourceLocation: sourceLocation)
            }
        }
    }
}
