/// An app: what a server serves to one kind of client. What a server leaves out has no routes, no metrics and no pages.
public enum ServedApp: String, Sendable, CaseIterable {
    /// The map of events: users with devices, events, attendances, and the map page.
    case events
    /// The to-do app: accounts and tasks.
    case tasks
}

extension Set<ServedApp> {
    public static let all = Set(ServedApp.allCases)

    /// Reads names that commas separate, such as `events,tasks`.
    /// - Returns: `nil` for an unknown or repeated name, and for no name
    public init?(_ text: String) {
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        self.init(names.compactMap(ServedApp.init(rawValue:)))
        guard count == names.count else { return nil }
    }
}
