internal import HTTPTypes

extension HTTPRequest {
    /// Source: RFC 9110, section 7.6.1.
    var asksToClose: Bool {
        guard let options = headerFields.value(of: .connection) else { return false }
        return options.split(separator: ",").contains { $0.trimmingSpaces.lowercased() == "close" }
    }

    /// Whoever looks after the server wants to know above all when it has too much to do.
    var isAboutHealth: Bool {
        guard let path, path.utf8.starts(with: "/health".utf8) else { return false }
        return ["/health", "/health/", "/health/live"].contains(path.prefix { $0 != "?" })
    }
}
