internal import Encoding
internal import HTTPServer
internal import HTTPTypes
internal import NIOCore

/// The format of the fields in a request, by its content type.
enum FieldsFormat: String, Sendable, CaseIterable {
    case json = "application/json"
    case form = "application/x-www-form-urlencoded"
    /// RFC 7396.
    case mergePatch = "application/merge-patch+json"

    /// - Throws: `HTTPError.unsupportedMediaType(_:)`
    init(contentType: String?, allowing allowed: [FieldsFormat]) throws(HTTPError) {
        // A body without a content type is JSON, because all clients mean JSON.
        let contentType = contentType ?? FieldsFormat.json.rawValue
        // The common case: the plain name, without parameters.
        if let format = FieldsFormat(rawValue: contentType), allowed.contains(format) {
            self = format
            return
        }
        let parts = contentType.split(separator: ";").map { $0.trimmingSpaces.lowercased() }
        guard let format = parts.first.flatMap(FieldsFormat.init(rawValue:)), allowed.contains(format) else {
            throw .unsupportedMediaType("The content type must be one of: \(allowed.map(\.rawValue).joined(separator: ", "))")
        }
        for parameter in parts.dropFirst() where parameter.hasPrefix("charset=") {
            guard ["utf-8", "\"utf-8\"", "us-ascii"].contains(parameter.dropFirst("charset=".count)) else {
                throw .unsupportedMediaType("The character set must be UTF-8")
            }
        }
        self = format
    }

    fileprivate func read(_ body: ByteBuffer) throws(HTTPError) -> JSON {
        guard body.readableBytes > 0 else { return [:] }
        let bytes = body.getBytes(at: body.readerIndex, length: body.readableBytes) ?? []
        switch self {
        case .form:
            do { return try JSON(form: bytes) } catch {
                throw .badRequest("The body is not a form: \(error)", code: .malformedBody)
            }
        case .json, .mergePatch:
            let fields: JSON
            do { fields = try JSON(utf8: bytes) } catch {
                throw .badRequest("The body is not JSON: \(error)", code: .malformedBody)
            }
            guard case .object = fields else { throw .badRequest("The body must be a JSON object", code: .malformedBody) }
            return fields
        }
    }
}

/// The fields of a request's body, and its bytes.
struct RequestFields {
    var format: FieldsFormat
    var json: JSON
    var body: ByteBuffer
}

extension Request {
    /// Reads the fields in the body; an empty body has none.
    /// - Throws: `HTTPError` with 400, 413 or 415
    func fields(allowing allowed: [FieldsFormat]) throws -> RequestFields {
        let format = try FieldsFormat(contentType: headers.value(of: .contentType), allowing: allowed)
        guard !headers.contains(.contentEncoding) else {
            throw HTTPError.unsupportedMediaType("A compressed body is not understood")
        }
        if let length = headers.value(of: .contentLength).flatMap(Int.init), length > API.bodyLimitBytes {
            throw HTTPError.contentTooLarge(limitBytes: API.bodyLimitBytes)
        }
        guard body.readableBytes <= API.bodyLimitBytes else { throw HTTPError.contentTooLarge(limitBytes: API.bodyLimitBytes) }
        return RequestFields(format: format, json: try format.read(body), body: body)
    }
}
