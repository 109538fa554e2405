import TestChance
import Testing

@testable import Encoding

/// Each input is read or refused with an error: a trap would end the test process. A value that was read stays the same when it
/// is written and read again.
@Suite struct `Reading faulty inputs` {
    private static let count = 5_000

    @Test(arguments: [1, 2] as [UInt64]) func `faulty JSON reads back unchanged or is refused`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        let inputs = [
            #"{"event":{"id":12,"name":"Caf\u00e9 \ud83c\udf89","lat":37.76,"tags":[1,-2.5e3,null,true,""]}}"#,
            #"[[[[{"a":[{}]}]]],"\\\"\/\b\f\n\r\t",0.1,1E+2]"#,
            String(repeating: "[", count: 64) + String(repeating: "]", count: 64),
        ]
        var accepted = 0
        for _ in 0..<Self.count {
            let bytes = mutations.next(of: inputs)
            guard let json = try? JSON(utf8: bytes) else { continue }
            accepted += 1
            try #require(try JSON(utf8: json.utf8) == json, "\(bytes)")
        }
        #expect(accepted > 100)
    }

    @Test(arguments: [3, 4] as [UInt64]) func `a faulty form reads back unchanged or is refused`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        let inputs = [
            "name=Caf%C3%A9+%F0%9F%8E%89&lat=37.76&lon=-122.43&address=", "event[id]=7&event[owner][id]=1&tag[]=a&tag[]=b&x",
            "people[][name]=Ann&people[][name]=Bob&a[][][b][]=1", "a" + String(repeating: "[a]", count: 63) + "=1",
        ]
        var accepted = 0
        for _ in 0..<Self.count {
            let bytes = mutations.next(of: inputs)
            _ = try? JSON(query: bytes)
            guard let json = try? JSON(form: bytes) else { continue }
            accepted += 1
            try #require(try JSON(form: Self.form(json).utf8) == json, "\(bytes)")
        }
        #expect(accepted > 100)
    }

    private static func form(_ json: JSON, below name: String = "") -> String {
        switch json {
        case .string(let value): name + "=" + encoded(value)
        case .array(let elements): elements.map { form($0, below: name + "[]") }.joined(separator: "&")
        case .object(let object):
            object.members.map { form($0.value, below: name.isEmpty ? encoded($0.name) : "\(name)[\(encoded($0.name))]") }
                .joined(separator: "&")
        case .null, .bool, .number: "unexpected"
        }
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test(arguments: [5, 6] as [UInt64]) func `a faulty time reads back unchanged or is refused`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        let inputs = [
            "2013-09-16T00:00:00.000Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "2016-12-31T15:59:60.5-08:00",
            "2000-02-29t12:34:56.123456789+23:59",
        ]
        for _ in 0..<Self.count {
            guard let time = Timestamp(rfc3339: mutations.text(of: inputs)) else { continue }
            try #require((Timestamp.earliest...Timestamp.latest).contains(time))
            try #require(Timestamp(rfc3339: time.description) == time)
        }
        for _ in 0..<Self.count {
            let time = Timestamp(milliseconds: mutations.number(Int64.self))
            try #require(Timestamp(rfc3339: time.description) == min(max(time, .earliest), .latest))
        }
    }

    @Test(arguments: [7, 8] as [UInt64]) func `a faulty number reads back unchanged or is refused`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        let inputs = [
            "37.76", "-122.42999999999999", "1e-7", "0.1", "9007199254740993", "-0", "1.7976931348623157e308", " +12 ",
            "123456789012345",
        ]
        for _ in 0..<Self.count {
            let text = mutations.text(of: inputs)
            if let value = Double(parsing: text) {
                try #require(Double(parsing: value.description) == value || !value.isFinite, "\(text)")
            }
            if let value = Int64(parsing: text) { try #require(Int64(parsing: value.description) == value, "\(text)") }
        }
    }
}
