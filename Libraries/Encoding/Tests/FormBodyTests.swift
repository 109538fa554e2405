import TestChance
import Testing

@testable import Encoding

@Suite struct `Reading a form body` {
    @Test func `a form is read as an object of texts`() throws {
        #expect(try form("name=Tea&lat=37.76&lon=-122.43") == #"{"name":"Tea","lat":"37.76","lon":"-122.43"}"#)
    }

    @Test func `names in brackets nest objects, as in Rails`() throws {
        #expect(try form("event[id]=7") == #"{"event":{"id":"7"}}"#)
        #expect(try form("event%5Bid%5D=7") == #"{"event":{"id":"7"}}"#)
        #expect(try form("event[id]=7&event[owner][id]=1&x=2") == #"{"event":{"id":"7","owner":{"id":"1"}},"x":"2"}"#)
    }

    @Test func `empty brackets gather values in an array`() throws {
        #expect(try form("tag[]=a&tag[]=b&tag[]=") == #"{"tag":["a","b",""]}"#)
        #expect(try form("event[tag][]=a&event[tag][]=b") == #"{"event":{"tag":["a","b"]}}"#)
        #expect(try form("a[][]=1&a[][]=2") == #"{"a":[["1"],["2"]]}"#)
    }

    @Test func `a repeated name starts a new object in an array of objects`() throws {
        #expect(try form("people[][name]=Ann&people[][name]=Bob") == #"{"people":[{"name":"Ann"},{"name":"Bob"}]}"#)
    }

    @Test func `a plus stands for a space`() throws {
        #expect(try form("first+name=Tea++time+") == #"{"first name":"Tea  time "}"#)
    }

    @Test func `a percent sign with two digits of either case stands for any byte`() throws {
        #expect(try form("name=caf%C3%A9%20%c3%a9+%F0%9F%8E%89+%2B%26%3D%25") == #"{"name":"café é 🎉 +&=%"}"#)
        #expect(try form("name=a%00b") == #"{"name":"a\u0000b"}"#)
    }

    @Test func `unescaped UTF-8 is accepted`() throws {
        #expect(try form("name=café") == #"{"name":"café"}"#)
    }

    @Test func `a missing value is read as an empty text`() throws {
        #expect(try form("address=&name") == #"{"address":"","name":""}"#)
    }

    @Test func `a pair is split at its first equals sign`() throws {
        #expect(try form("name=a=b=") == #"{"name":"a=b="}"#)
    }

    @Test func `an empty form and empty pairs are accepted`() throws {
        #expect(try form("") == "{}")
        #expect(try form("&&a=1&&b=2&") == #"{"a":"1","b":"2"}"#)
    }

    @Test func `the last of several values of one name counts`() throws {
        #expect(try form("a=1&a=2") == #"{"a":"2"}"#)
        #expect(try form("a[b]=1&a[b]=2") == #"{"a":{"b":"2"}}"#)
    }

    @Test func `names keep the order of their first occurrence`() throws {
        #expect(try form("a=1&b=2&a=3") == #"{"a":"3","b":"2"}"#)
        #expect(try form("e[a]=1&x=2&e[b]=3") == #"{"e":{"a":"1","b":"3"},"x":"2"}"#)
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
    @Test(arguments: ["a=%", "a=%4", "a=%zz", "a=%4z", "a=%+1", "a=%é", "%=1", "a[%]=1"])
    func `a percent sign without two hexadecimal digits is refused`(text: String) {
        #expect(errorMessage(text) == "bytes that are no percent-encoded UTF-8 in pair 1")
    }

    @Test(arguments: ["a=%ff", "a=%C3", "a=%C3%28", "%ED%A0%80=1"])
    func `percent-encoded bytes that are not UTF-8 are refused`(text: String) {
        #expect(errorMessage("ok=1&" + text) == "bytes that are no percent-encoded UTF-8 in pair 2")
    }

    @Test func `an unescaped byte that is not UTF-8 is refused`() {
        #expect(errorMessage(Array("a=".utf8) + [0xFF]) == "bytes that are no percent-encoded UTF-8 in pair 1")
    }

    @Test(arguments: ["a[b=1", "a]=1", "a[b]c=1", "a[b]c]=1", "a[[b]]=1", "[a]=1", "[]=1", "a[b][=1"])
    func `brackets that do not match are refused`(text: String) {
        #expect(errorMessage(text) == "a name that is empty or whose brackets do not match or nest deeper than 64 in pair 1")
    }

    @Test func `a name that nests 65 deep is refused`() {
        let text = "a" + String(repeating: "[a]", count: 64) + "=1"
        #expect(errorMessage(text) == "a name that is empty or whose brackets do not match or nest deeper than 64 in pair 1")
    }

    @Test(arguments: ["a=1&a[b]=2", "a=1&a[]=2", "a[b]=1&a[]=2", "a[]=1&a[b]=2", "a[b]=1&a[b][c]=2"])
    func `a name that is both a value and a parent is refused`(text: String) {
        #expect(errorMessage(text) == "a name that is both a value and a parent in pair 2")
    }

    @Test func `a form of more than 100 pairs is refused`() {
        let text = (1...101).map { "n\($0)=\($0)" }.joined(separator: "&")
        #expect(errorMessage(text) == "more than 100 pairs in pair 101")
    }
}

private func form(_ text: String) throws -> String { try JSON(form: text.utf8).text }

private func errorMessage(_ text: String) -> String { errorMessage(Array(text.utf8)) }

private func errorMessage(_ bytes: [UInt8]) -> String {
    do throws(FormSyntaxError) { return "none: \(try JSON(form: bytes))" } catch { return error.description }
}
