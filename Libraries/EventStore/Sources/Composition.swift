public import Logging
public import Postgres

/// What the modules of one process are made of: the log, the database, time and ids, and the modules that were made before.
public struct Composition: Sendable {
    public let log: EventLog
    /// For queries.
    public let database: PostgresClient
    public let dependencies: Dependencies
    public let logger: Logger
    /// All modules of the process, which an erasure of a person asks for their streams.
    let modules: [StoredModule]
    private var parts: [ObjectIdentifier: any Sendable] = [:]

    /// - Parameter modules: all modules of the process
    public init(
        log: EventLog, database: PostgresClient, dependencies: Dependencies, modules: [StoredModule] = [],
        logger: Logger = Logger(label: "modules")
    ) {
        self.log = log
        self.database = database
        self.dependencies = dependencies
        self.modules = modules
        self.logger = logger
    }

    /// Adds a part for the modules that are made later.
    public mutating func add<Part: Sendable>(_ part: Part) { parts[ObjectIdentifier(Part.self)] = part }

    /// The part of this type; `nil` if none was added.
    public func find<Part: Sendable>(_: Part.Type = Part.self) -> Part? { parts[ObjectIdentifier(Part.self)] as? Part }

    /// A part that the caller cannot do without, such as a module that stands before it in the list. Ends the process if it is missing,
    /// which shows at the first start.
    public subscript<Part: Sendable>(type: Part.Type) -> Part {
        guard let part = find(type) else {
            fatalError("\(type) is used before it is made: in the list of modules it must stand before the module that uses it")
        }
        return part
    }
}
