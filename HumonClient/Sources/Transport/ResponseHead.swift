internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Status and header fields of a response.
struct ResponseHead: Sendable {
    var status: Int
    /// By their names in lower case.
    private var fields: [String: String]

    init(status: Int, fields: [String: String]) {
        self.status = status
        self.fields = Dictionary(fields.map { ($0.lowercased(), $1) }) { first, _ in first }
    }

    init(_ response: HTTPURLResponse) {
        let fields = response.allHeaderFields.compactMap { name, value in (name as? String).map { ($0, "\(value)") } }
        self.init(status: response.statusCode, fields: Dictionary(fields) { first, _ in first })
    }

    /// - Parameter name: in lower case
    subscript(name: String) -> String? {
        get { fields[name] }
        set { fields[name] = newValue }
    }
}

/// A response with its complete body.
struct Response: Sendable {
    var head: ResponseHead
    var body: Data
}
