import TestChance
import Testing

@testable import Encoding

@Suite struct `Reading a form body` {
    @Test(arguments: [
        ("name=Tea&lat=37.76&lon=-122.43", #"{"name":"Tea","lat":"37.76","lon":"-122.43"}"#), ("", "{}"),
        // Names in brackets nest objects, as in Rails.
        ("event[id]=7", #"{"event":{"id":"7"}}"#), ("event%5Bid%5D=7", #"{"event":{"id":"7"}}"#),
        ("event[id]=7&event[owner][id]=1&x=2", #"{"event":{"id":"7","owner":{"id":"1"}},"x":"2"}"#),
        // Empty brackets gather values in an array.
        ("tag[]=a&tag[]=b&tag[]=", #"{"tag":["a","b",""]}"#), ("a[][]=1&a[][]=2", #"{"a":[["1"],["2"]]}"#),
        ("event[tag][]=a&event[tag][]=b", #"{"event":{"tag":["a","b"]}}"#),
        // A repeated name starts a new object in an array of objects.
        ("people[][name]=Ann&people[][name]=Bob", #"{"people":[{"name":"Ann"},{"name":"Bob"}]}"#),
        // A plus stands for a space, and a percent sign with two digits of either case for any byte.
        ("first+name=Tea++time+", #"{"first name":"Tea  time "}"#), ("name=a%00b", #"{"name":"a\u0000b"}"#),
        ("name=caf%C3%A9%20%c3%a9+%F0%9F%8E%89+%2B%26%3D%25", #"{"name":"café é 🎉 +&=%"}"#), ("name=café", #"{"name":"café"}"#),
        // A missing value is empty, a pair is split at its first equals sign, and empty pairs are none.
        ("address=&name", #"{"address":"","name":""}"#), ("name=a=b=", #"{"name":"a=b="}"#),
        ("&&a=1&&b=2&", #"{"a":"1","b":"2"}"#),
        // The last of several values of one name counts, in the place of the first.
        ("a=1&a=2", #"{"a":"2"}"#), ("a[b]=1&a[b]=2", #"{"a":{"b":"2"}}"#), ("a=1&b=2&a=3", #"{"a":"3","b":"2"}"#),
        ("e[a]=1&x=2&e[b]=3", #"{"e":{"a":"1","b":"3"},"x":"2"}"#),
    ])
    func `a form is read as an object of texts`(text: String, expected: String) throws {
        #expect(try form(text) == expected)
    }

    @Test func `a form of 100 pairs is accepted`() throws {
        let text = (1...100).map { "n\($0)=\($0)" }.joined(separator: "&")
        #expect(try JSON(form: text.utf8)["n100"] == "100")
    }

    @Test func `a name that nests 64 deep is accepted`() throws {
        let text = "a" + String(repeating: "[a]", count: 63) + "=1"
        #expect(try form(text) == String(repeating: #"{"a":"#, count: 64) + #""1""# + String(repeating: "}", count: 64))
    }
}

@Suite struct `Names of a form body` {
    @Test func `names are equal if their bytes are`() throws {
        #expect(try form("\u{E9}=1&e\u{301}=2&\u{E9}=3").utf8.elementsEqual(#"{"\#u{E9}":"3","e\#u{301}":"2"}"#.utf8))
    }

    /// Swift's own hash of these marks takes a tenth of a second or more.
    @Test func `a name of 30,000 combining marks takes no longer than any other`() throws {
        let marks = String(repeating: "\u{301}\u{316}", count: 15_000)
        let elapsed = try processorTime {
            for _ in 0..<20 { _ = try JSON(form: "a[\(marks)]=1".utf8) }
        }
        #expect(elapsed < .seconds(4))
    }
}

@Suite struct `Refusing a form body` {
    private static let encoding = "bytes that are no percent-encoded UTF-8 in pair"
    private static let nesting = "a name that is empty or whose brackets do not match or nest deeper than 64 in pair 1"
    private static let clash = "a name that is both a value and a parent in pair 2"
    private static let deep = "a" + String(repeating: "[a]", count: 64) + "=1"
    private static let long = (1...101).map { "n\($0)=\($0)" }.joined(separator: "&")

    @Test(
        arguments: [
            (["a=%", "a=%4", "a=%zz", "a=%4z", "a=%+1", "a=%é", "%=1", "a[%]=1"], encoding + " 1"),
            (["ok=1&a=%ff", "ok=1&a=%C3", "ok=1&a=%C3%28", "ok=1&%ED%A0%80=1"], encoding + " 2"),
            (["a[b=1", "a]=1", "a[b]c=1", "a[b]c]=1", "a[[b]]=1", "[a]=1", "[]=1", "a[b][=1"], nesting),
            ([deep], nesting),
            (["a=1&a[b]=2", "a=1&a[]=2", "a[b]=1&a[]=2", "a[]=1&a[b]=2", "a[b]=1&a[b][c]=2"], clash),
            ([long], "more than 100 pairs in pair 101"),
        ] as [([String], String)])
    func `a form that cannot be read is refused with the reason and the number of its pair`(texts: [String], reason: String) {
        for text in texts { #expect(errorMessage(Array(text.utf8)) == reason, "\(text)") }
    }

    @Test func `an unescaped byte that is not UTF-8 is refused`() {
        #expect(errorMessage(Array("a=".utf8) + [0xFF]) == Self.encoding + " 1")
    }
}

private func form(_ text: String) throws -> String { try JSON(form: text.utf8).text }

private func errorMessage(_ bytes: [UInt8]) -> String {
    do throws(FormSyntaxError) { return "none: \(try JSON(form: bytes))" } catch { return error.description }
}
