/// Why a text is not a form, and where.
public struct FormSyntaxError: Error, Hashable, CustomStringConvertible {
    public var reason: String
    /// The place of the pair among those that `&` separates, from 1.
    public var pair: Int

    public var description: String { "\(reason) in pair \(pair)" }
}

extension JSON {
    /// The most pairs that a form may have.
    public static var formPairLimit: Int { 1_000 }

    /// Reads an `application/x-www-form-urlencoded` text (WHATWG URL) with names nested the Rails way: `event[id]=7` becomes
    /// `{"event":{"id":"7"}}`, `tag[]=a&tag[]=b` becomes `{"tag":["a","b"]}`. Values are strings.
    public init(form bytes: some Collection<UInt8>) throws(FormSyntaxError) {
        var root = JSON.object(JSONObject())
        for (index, pair) in try formPairs(Array(bytes)).enumerated() {
            guard let path = formPath(pair.name) else {
                throw FormSyntaxError(
                    reason: "a name that is empty or whose brackets do not match or nest deeper than \(JSON.depthLimit)",
                    pair: index + 1)
            }
            guard root.insert(pair.value, at: path[...]) else {
                throw FormSyntaxError(reason: "a name that is both a value and a parent", pair: index + 1)
            }
        }
        self = root
    }

    /// Reads the query of a URL, whose names mean themselves, brackets and all. Of several values the last counts.
    public init(query bytes: some Collection<UInt8>) throws(FormSyntaxError) {
        self = .object(JSONObject(members: try formPairs(Array(bytes))))
    }

    /// False where a value already stands on the way.
    private mutating func insert(_ value: JSON, at path: ArraySlice<String>) -> Bool {
        guard let name = path.first else {
            self = value
            return true
        }
        let rest = path.dropFirst()
        switch self {
        case .object(var object) where !name.isEmpty:
            var child = object[name] ?? JSON.emptyParent(of: rest)
            switch (rest.isEmpty, child) {
            // Of several values the last counts.
            case (true, .string): child = .null
            case (true, _) where object[name] != nil: return false
            case _: break
            }
            guard child.insert(value, at: rest) else { return false }
            self = .null  // lets go of the storage, so that the next line changes it in place
            object[name] = child
            self = .object(object)
            return true
        case .array(var elements) where name.isEmpty:
            var child = JSON.emptyParent(of: rest)
            guard child.insert(value, at: rest) else { return false }
            self = .null
            elements.append(child)
            self = .array(elements)
            return true
        case .null, .bool, .number, .string, .array, .object: return false
        }
    }

    private static func emptyParent(of path: ArraySlice<String>) -> JSON {
        path.first == "" ? .array([]) : .object(JSONObject())
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
    guard let bracket = name.firstIndex(of: "["), bracket != name.startIndex, name.hasSuffix("]") else {
        return name.isEmpty || name.contains(where: { $0 == "[" || $0 == "]" }) ? nil : [name]
    }
    let parts = name[name.index(after: bracket)...].dropLast().split(separator: "][", omittingEmptySubsequences: false)
    guard parts.count < JSON.depthLimit, !parts.contains(where: { $0.contains("[") || $0.contains("]") }) else { return nil }
    return [String(name[..<bracket])] + parts.map(String.init)
}

private func percentDecoded(_ bytes: ArraySlice<UInt8>) -> String? {
    // What ASCII means needs no asking, and is nearly all that is ever sent.
    if bytes.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "%") }) {
        return bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
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
