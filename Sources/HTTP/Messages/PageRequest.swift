internal import Encoding
internal import EventStore
internal import HTTPServer

/// A request for a part of a list: at most `limit` entries behind a cursor.
struct PageRequest<Cursor> {
    var limit: Int
    /// `nil` for the first page.
    var after: Cursor?
}

extension Request {
    /// Reads `limit` and `after` of the query.
    /// - Parameters:
    ///   - maximum: the largest limit, and the default
    ///   - cursor: reads a cursor; `nil` for a text that is none
    /// - Throws: `HTTPError.badRequest(_:code:)`, `HTTPError.invalid(errors:)` with all validation errors
    func page<Cursor>(maximum: Int, cursor: (String) -> Cursor?) throws(HTTPError) -> PageRequest<Cursor> {
        let fields = try queryFields()
        var errors: [FieldError] = []
        var page = PageRequest<Cursor>(limit: maximum)
        if let text = fields["limit"]?.nonBlank {
            let number = Double(parsing: text)
            switch number {
            case nil: errors.append(.notANumber("limit"))
            case let number? where !(1...Double(maximum)).contains(number):
                errors.append(.outOfRange("limit", 1...Double(maximum)))
            case let number? where number.rounded() != number: errors.append(.notAWholeNumber("limit"))
            case let number?: page.limit = Int(number)
            }
        }
        if let text = fields["after"]?.nonBlank {
            page.after = cursor(text)
            if page.after == nil { errors.append(.notACursor("after")) }
        }
        guard errors.isEmpty else { throw .invalid(errors: errors) }
        return page
    }
}

extension JSON {
    /// The text of a query field; `nil` for a blank one. A query has texts and, in brackets, arrays and objects, which no list reads.
    fileprivate var nonBlank: String? {
        switch self {
        case .string(let text), .number(let text): text.isBlank ? nil : text
        case .array, .object: "[]"
        case .null, .bool: nil
        }
    }
}
