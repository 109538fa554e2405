internal import Encoding
internal import EventStore
internal import Events
internal import HTTPServer

extension Request {
    /// Reads `limit` and `after` of the query, for a part of a list: at most `limit` entries behind a cursor.
    /// - Parameters:
    ///   - maximum: the largest limit, and the default
    ///   - cursor: reads a cursor; `nil` for a text that is none
    /// - Returns: the limit, and the cursor; `nil` for the first page
    /// - Throws: `HTTPError.badRequest(_:code:)`, `HTTPError.invalid(errors:)` with all validation errors
    func page<Cursor>(maximum: Int, cursor: (String) -> Cursor?) throws(HTTPError) -> (limit: Int, after: Cursor?) {
        var fields = EventFields(try queryFields())
        let page = (fields.limit(maximum: maximum), fields.after(cursor))
        guard fields.errors.isEmpty else { throw .invalid(errors: fields.errors) }
        return page
    }
}
