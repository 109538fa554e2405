internal import Encoding

/// A response with problem details that operations share.
struct DocumentedError {
    var name: String
    var status: String
    var codes: [String]
    var description: String
    var headers: DocumentedOperation.Table?
    var formats: [DocumentedOperation.Format]

    /// - Parameter response: a reference
    /// - Returns: `nil` for a response that is not shared or has no problem details
    init?(_ response: JSON, _ reader: DocumentReader) {
        guard let reference = response["$ref"]?.string, let name = reference.split(separator: "/").last,
            let problem = reader.problem(reader.resolved(response))
        else { return nil }
        let response = reader.resolved(response)
        self.name = String(name)
        (status, codes) = problem
        description = markedUp(response["description"])
        headers = reader.headers(response)
        formats = reader.formats(response["content"])
    }

    /// The shared errors of a document, by status.
    static func all(in document: JSON) -> [DocumentedError] {
        let reader = DocumentReader(document: document)
        return (document["components"]?["responses"]?.members ?? [])
            .compactMap { DocumentedError(["$ref": .string("#/components/responses/\($0.name)")], reader) }
            .sorted { ($0.status, $0.name) < ($1.status, $1.name) }
    }
}

/// A code of an error or of a field, as the document describes it.
struct DocumentedCode {
    var name: String
    /// `nil` for the code of a field.
    var status: String?
    var description: String

    /// The codes that a schema of the document lists.
    static func all(in document: JSON, schema: String) -> [DocumentedCode] {
        (document["components"]?["schemas"]?[schema]?["x-codes"]?.elements ?? []).map { code in
            DocumentedCode(
                name: code["const"]?.shown ?? "", status: code["x-status"]?.shown, description: markedUp(code["description"]))
        }
    }
}
