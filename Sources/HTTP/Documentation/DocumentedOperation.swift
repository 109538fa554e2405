internal import Encoding

/// One request of the API, as its page shows it.
struct DocumentedOperation {
    struct Parameter {
        var name: String
        var place: String
        var isRequired: Bool
        var value: String
        var description: String
    }

    struct Table {
        var fields: [Parameter]
        var caption: String?

        /// - Returns: `nil` if there are no fields
        init?(_ fields: [Parameter], caption: String? = nil) {
            guard !fields.isEmpty else { return nil }
            self.fields = fields
            self.caption = caption
        }
    }

    struct Example {
        var summary: String?
        var value: String
    }

    struct Format {
        var type: String
        var tables: [Table]
        /// Whether an earlier format has the same fields; the page then refers to that format's tables.
        var isAsBefore: Bool
        var examples: [Example]
    }

    struct Body {
        var description: String
        var formats: [Format]
    }

    struct Answer {
        var status: String
        var isSuccess: Bool
        var description: String
        /// An error that other operations have too; the page shows its fields once.
        var error: DocumentedError?
        var headers: Table?
        var formats: [Format]
    }

    var id: String
    var group: String
    var method: String
    var path: String
    var summary: String
    /// The callers that the operation allows.
    var access: String
    var description: String
    var curl: String
    var parameters: Table?
    var body: Body?
    var answers: [Answer]
}

extension DocumentedOperation {
    static func all(in document: JSON) -> [DocumentedOperation] {
        let reader = DocumentReader(document: document)
        return (document["paths"]?.members ?? []).flatMap { path in
            path.value.members.filter { $0.name != "parameters" }.map { operation in
                DocumentedOperation(operation.name, path.name, path.value, operation.value, reader)
            }
        }
    }

    private init(_ method: String, _ path: String, _ shared: JSON, _ operation: JSON, _ reader: DocumentReader) {
        let own = operation["parameters"]?.elements ?? []
        let parameters = (own + (shared["parameters"]?.elements ?? [])).map(reader.resolved)
        let security = operation["security"] ?? reader.document["security"]
        let body = operation["requestBody"].map(reader.resolved)
        id = operation["operationId"]?.string ?? ""
        group = operation["tags"]?.elements.first?.string ?? ""
        self.method = method.uppercased()
        self.path = path
        summary = operation["summary"]?.string ?? ""
        access = Access(security).description
        description = markedUp(operation["description"])
        curl = Self.curl(method.uppercased(), path, parameters, Access(security), body, reader)
        self.parameters = Table(parameters.map(reader.parameter))
        self.body = body.map { Body(description: markedUp($0["description"]), formats: reader.formats($0["content"])) }
        answers = (operation["responses"]?.members ?? []).map { answer in
            let response = reader.resolved(answer.value)
            let error = DocumentedError(answer.value, reader)
            return Answer(
                status: answer.name, isSuccess: answer.name.hasPrefix("2"), description: markedUp(response["description"]),
                error: error, headers: error == nil ? reader.headers(response) : nil,
                formats: error == nil ? reader.formats(response["content"]) : [])
        }
    }

    /// A `curl` line with the required parameters, the parameters with a default, and the parameters that the document marks as shown.
    /// The values are the document's examples.
    private static func curl(
        _ method: String, _ path: String, _ parameters: [JSON], _ access: Access, _ body: JSON?, _ reader: DocumentReader
    ) -> String {
        func shown(_ parameter: JSON) -> (name: String, value: String) {
            (parameter["name"]?.string ?? "", parameter["example"]?.shown ?? "")
        }
        var path = path
        for parameter in parameters where parameter["in"] == "path" {
            let (name, value) = shown(parameter)
            path = path.replacing("{\(name)}", with: value)
        }
        let query = parameters.filter {
            $0["in"] == "query"
                && ($0["required"] == .bool(true) || $0["x-shown"] == .bool(true) || $0["schema"]?["default"] != nil)
        }
        .map { "\(shown($0).name)=\(shown($0).value)" }
        let target = query.isEmpty ? path : path + "?" + query.joined(separator: "&")
        var line = "curl \(method == "GET" ? "" : "-X \(method) ")\"$HUMON\(target)\""
        if let header = access.curlHeader { line += " \\\n  -H \"\(header)\"" }
        // With the app's secret alone every repetition would create another user.
        if access == .app { line += " -H \"\(Access.device.curlHeader ?? "")\"" }
        if let json = body?["content"]?.members.first(where: { $0.name == "application/json" }),
            let example = reader.examples(json).first
        {
            line += " \\\n  -H 'content-type: application/json' \\\n  -d \(quotedForShell(example.value))"
        }
        return line
    }
}

/// The text as one word of a shell, quoted.
func quotedForShell(_ text: String) -> String {
    "'" + text.replacing("'", with: #"'\''"#) + "'"
}

/// The callers that an operation allows.
private enum Access: CustomStringConvertible {
    case anyone
    case reader
    case device
    case account
    case app

    init(_ security: JSON?) {
        let names = (security?.elements ?? []).map { $0.members.first?.name }
        switch names.first {
        case nil: self = .anyone
        case .some(nil): self = .reader
        case "tb-app-secret": self = .app
        case "bearer": self = .account
        case .some: self = .device
        }
    }

    var description: String {
        switch self {
        case .anyone: "Anyone may."
        case .reader: "Anyone may, or every device that signed up, as the server is set."
        case .device: "Needs the token of a device."
        case .account: "Needs the token of an account."
        case .app: "Needs the secret of the app."
        }
    }

    var curlHeader: String? {
        switch self {
        case .anyone, .reader: nil
        case .device: "tb-device-token: $TOKEN"
        case .account: "authorization: Bearer $ACCOUNT_TOKEN"
        case .app: "tb-app-secret: $SECRET"
        }
    }
}
