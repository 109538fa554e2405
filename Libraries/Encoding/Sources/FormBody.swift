/// Why a text is not a form, and where.
public struct FormSyntaxError: Error, Hashable, CustomStringConvertible {
    public var reason: String
    /// The number of the pair in the body, from 1.
    public var pair: Int

    public var description: String { "\(reason) in pair \(pair)" }
}

extension JSON {
    /// The most pairs that a form may have: each one costs a copy of those before it. The forms of all clients here have ten at most.
    public static var formPairLimit: Int { 100 }

    /// Reads an `application/x-www-form-urlencoded` text (WHATWG URL) with names nested the Rails way: `event[id]=7` becomes
    /// `{"event":{"id":"7"}}`, `tag[]=a&tag[]=b` becomes `{"tag":["a","b"]}`. Values are strings.
    ///
    /// Of several values of a name the last one counts.
    /// - Throws: ``FormSyntaxError``
    public init(form bytes: some Collection<UInt8>) throws(FormSyntaxError) {
        var form: JSON = .object(JSONObject())
        for (index, pair) in try formPairs(Array(bytes)).enumerated() {
            guard case .string(let value) = pair.value, let path = formPath(pair.name) else {
                throw FormSyntaxError(
                    reason: "a name that is empty or whose brackets do not match or nest deeper than \(JSON.depthLimit)",
                    pair: index + 1)
            }
            guard let next = JSON?.some(form).placing(value, at: path[...]) else {
                throw FormSyntaxError(reason: "a name that is both a value and a parent", pair: index + 1)
            }
            form = next
        }
        self = form
    }

    /// Reads the query of a URL. Brackets in a name have no meaning. Of several values of a name the last one counts.
    /// - Throws: ``FormSyntaxError``
    public init(query bytes: some Collection<UInt8>) throws(FormSyntaxError) {
        self = .object(JSONObject(members: try formPairs(Array(bytes))))
    }
}

extension JSON? {
    /// The value with a text at a path. An empty part of the path appends an element to an array.
    /// - Returns: `nil` if the path leads through a text, or if the text would replace a parent
    fileprivate func placing(_ text: String, at path: ArraySlice<String>) -> JSON? {
        guard let name = path.first else {
            return switch self {
            case nil, .string: .string(text)
            default: nil
            }
        }
        let rest = path.dropFirst()
        switch self {
        case nil where name.isEmpty, .array where name.isEmpty:
            let elements = if case .array(let elements) = self { elements } else { [JSON]() }
            return JSON?.none.placing(text, at: rest).map { .array(elements + [$0]) }
        case nil where !name.isEmpty, .object where !name.isEmpty:
            var members = if case .object(let object) = self { object.members } else { [JSONObject.Member]() }
            let place = members.firstIndex { $0.name.hasSameBytes(as: name) }
            guard let value = place.map({ members[$0].value }).placing(text, at: rest) else { return nil }
            if let place { members[place].value = value } else { members.append(.init(name: name, value: value)) }
            return .object(JSONObject(members: members))
        default: return nil
        }
    }
}

/// Names, as they are written, and their texts. This is done for every search: of an array, whatever the bytes were in, and so
/// without a detour a byte.
private func formPairs(_ bytes: [UInt8]) throws(FormSyntaxError) -> [JSONObject.Member] {
    var pairs: [JSONObject.Member] = []
    pairs.reserveCapacity(JSONObject.usualCount)
    var start = 0
    while start < bytes.count {
        let end = bytes[start...].firstIndex(of: UInt8(ascii: "&")) ?? bytes.count
        let pair = bytes[start..<end]
        start = end + 1
        guard !pair.isEmpty else { continue }
        guard pairs.count < JSON.formPairLimit else {
            throw FormSyntaxError(reason: "more than \(JSON.formPairLimit) pairs", pair: pairs.count + 1)
        }
        let sign = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
        guard let name = percentDecoded(pair[..<sign]), let value = percentDecoded(pair[sign...].dropFirst()) else {
            throw FormSyntaxError(reason: "bytes that are no percent-encoded UTF-8", pair: pairs.count + 1)
        }
        pairs.append(JSONObject.Member(name: name, value: .string(value)))
    }
    return pairs
}

/// `event[id]` → `["event", "id"]`; an empty part stands for "one more element".
private func formPath(_ name: String) -> [String]? {
    let (opening, closing) = (UInt8(ascii: "["), UInt8(ascii: "]"))
    let head = name.utf8.firstIndex(of: opening) ?? name.endIndex
    guard head > name.startIndex, !name[..<head].utf8.contains(closing) else { return nil }
    var path = [String(name[..<head])]
    var rest = name[head...].utf8
    while rest.popFirst() == opening {
        guard path.count < JSON.depthLimit, let end = rest.firstIndex(of: closing), !rest[..<end].contains(opening) else {
            return nil
        }
        path.append(String(Substring(rest[..<end])))
        rest = rest[rest.index(after: end)...]
        if rest.isEmpty { return path }
    }
    return head == name.endIndex ? path : nil
}

private func percentDecoded(_ bytes: ArraySlice<UInt8>) -> String? {
    // What ASCII means needs no asking, and is nearly all that is ever sent.
    if bytes.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "%") }) {
        return String(decoding: bytes, as: UTF8.self)
    }
    var decoded: [UInt8] = []
    var iterator = bytes.makeIterator()
    func hexadecimalDigit(_ byte: UInt8?) -> UInt8? {
        byte.flatMap { Character(Unicode.Scalar($0)).hexDigitValue }.map(UInt8.init)
    }
    while let byte = iterator.next() {
        switch byte {
        case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
        case UInt8(ascii: "%"):
            guard let high = hexadecimalDigit(iterator.next()), let low = hexadecimalDigit(iterator.next()) else { return nil }
            decoded.append(high << 4 | low)
        case _: decoded.append(byte)
        }
    }
    return String(validating: decoded, as: UTF8.self)
}
