/// The name of this process's sessions in PostgreSQL, so that an operator finds the node or the command that a session belongs to.
enum SessionName {
    /// PostgreSQL keeps no more of a name.
    private static let byteLimit = 63

    /// The port distinguishes the nodes of one machine.
    static func ofServer(port: Int, host: String = host) -> String {
        let end = ":\(port)"
        return String(decoding: "humon \(host)".utf8.prefix(byteLimit - end.utf8.count), as: UTF8.self) + end
    }

    static func ofCommand(host: String = host) -> String {
        String(decoding: "humon command on \(host)".utf8.prefix(byteLimit), as: UTF8.self)
    }

    /// Foundation's name of the host may come from a name server.
    private static var host: String { SystemCalls.hostName() ?? "unknown" }
}
