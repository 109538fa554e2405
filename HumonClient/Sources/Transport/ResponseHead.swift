internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Status and header fields of a response.
struct ResponseHead: Sendable {
    let status: Int
    /// By their names in lower case.
    private let fields: [String: String]

    init(status: Int, fields: [String: String]) {
        self.status = status
        self.fields = Dictionary(fields.map { ($0.lowercased(), $1) }) { first, _ in first }
    }

    init(_ response: HTTPURLResponse) {
        let fields = response.allHeaderFields.compactMap { name, value in (name as? String).map { ($0, "\(value)") } }
        self.init(status: response.statusCode, fields: Dictionary(fields) { first, _ in first })
    }

    /// - Parameter name: in lower case
    subscript(name: String) -> String? { fields[name] }
}

/// A response with its complete body.
struct Response: Sendable {
    var head: ResponseHead
    var body: Data
}
