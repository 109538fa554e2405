internal import HTTPTypes

extension HTTPRequest {
    /// Whether it is the last on its connection: it says so, or asks for another protocol, of which nothing would be understood.
    /// Source: RFC 9110, sections 7.6.1, 7.8 and 9.3.6.
    var isLast: Bool {
        guard method != .connect else { return true }
        guard let options = headerFields.value(of: .connection) else { return false }
        return options.split(separator: ",").contains { ["close", "upgrade"].contains($0.trimmingSpaces.lowercased()) }
    }

    /// Whoever looks after the server wants to know above all when it has too much to do.
    var isAboutHealth: Bool {
        guard let path, path.utf8.starts(with: "/health".utf8) else { return false }
        return ["/health", "/health/", "/health/live"].contains(path.prefix { $0 != "?" })
    }
}
