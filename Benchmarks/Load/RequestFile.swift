internal import NIOCore

/// The requests of a route as bytes that are ready to send. A file has a request a line: METHOD PATH BODY, where a GET has no body.
struct RequestFile: Sendable {
    let requests: [ByteBuffer]

    /// - Throws: ``LoadPlanError`` if a line has no path, or if the file has no line.
    init(_ text: String, host: String, headers: [(name: String, value: String)]) throws(LoadPlanError) {
        let fields = (["host": host].map { ($0, $1) } + headers).map { "\($0.0): \($0.1)\r\n" }.joined()
        var requests: [ByteBuffer] = []
        for (number, line) in text.split(separator: "\n").enumerated() {
            let parts = line.split(separator: " ", maxSplits: 2)
            guard parts.count >= 2, parts[1].hasPrefix("/") else {
                throw LoadPlanError(reason: "line \(number + 1) is no METHOD PATH BODY")
            }
            let body = parts.count > 2 ? parts[2] : ""
            let length = parts[0] == "GET" ? "" : "content-length: \(body.utf8.count)\r\n"
            requests.append(ByteBuffer(string: "\(parts[0]) \(parts[1]) HTTP/1.1\r\n\(fields)\(length)\r\n\(body)"))
        }
        guard !requests.isEmpty else { throw LoadPlanError(reason: "the file of requests is empty") }
        self.requests = requests
    }

    /// The file repeats without end.
    subscript(number: Int) -> ByteBuffer { requests[number % requests.count] }
}
