import Foundation
import TestChance

/// What is done to the system while clients use it.
enum Fault: Sendable, Hashable, CustomStringConvertible {
    /// With -9, then started again; so it is with all that is killed.
    case killServer(Int)
    case killBothServers
    /// All its processes at once, as a machine that loses power does.
    case killPostgres
    case killPostgresAndServer(Int)
    /// With SIGSTOP, and later SIGCONT: it is there, and does nothing.
    case stopServer(Int, milliseconds: Int)
    /// All its processes.
    case stopPostgres(milliseconds: Int)
    /// PostgreSQL's side of every connection ends, and the server hears nothing of it.
    case halfOpenConnections
    /// Of a session that holds the log's lock, so that it is appending or committing.
    case terminateAppendingSession
    case cutConnections(Cut)
    /// One that wrote elsewhere, one in another database, and one that keeps a snapshot.
    case holdForeignTransactions
    /// By a session that is not a writer of the log.
    case holdLock(milliseconds: Int)
    /// Until a server refuses one more append.
    case fillQueue(server: Int)
    /// Stops one of the subscriptions of the same name and starts another in its place.
    case replaceSubscription(Int)

    var kind: String {
        switch self {
        case .killServer, .killBothServers: "server killed"
        case .killPostgres: "PostgreSQL killed"
        case .killPostgresAndServer: "PostgreSQL and a server killed"
        case .stopServer: "server stopped"
        case .stopPostgres: "PostgreSQL stopped"
        case .halfOpenConnections: "connections half open"
        case .terminateAppendingSession: "appending session terminated"
        case .cutConnections: "connections cut"
        case .holdForeignTransactions: "foreign transactions held"
        case .holdLock: "log's lock held"
        case .fillQueue: "writer's queue filled"
        case .replaceSubscription: "subscription replaced"
        }
    }

    var kills: (servers: Int, postgres: Int) {
        switch self {
        case .killServer: (1, 0)
        case .killBothServers: (2, 0)
        case .killPostgres: (0, 1)
        case .killPostgresAndServer: (1, 1)
        case .stopServer, .stopPostgres, .halfOpenConnections, .terminateAppendingSession, .cutConnections,
            .holdForeignTransactions, .holdLock, .fillQueue, .replaceSubscription:
            (0, 0)
        }
    }

    var description: String {
        switch self {
        case .killServer(let server), .killPostgresAndServer(let server): "\(kind) (server \(server))"
        case .killBothServers: "\(kind) (both)"
        case .killPostgres, .halfOpenConnections, .terminateAppendingSession, .holdForeignTransactions: kind
        case .stopServer(let server, let milliseconds): "\(kind) (server \(server), \(milliseconds) ms)"
        case .stopPostgres(let milliseconds): "\(kind) (\(milliseconds) ms)"
        case .cutConnections(let cut): "\(kind) (\(cut))"
        case .holdLock(let milliseconds): "\(kind) (\(milliseconds) ms)"
        case .fillQueue(let server): "\(kind) (server \(server))"
        case .replaceSubscription(let subscription): "\(kind) (subscription \(subscription))"
        }
    }
}

/// What a run does, given by its seed: which faults in which order, and how many commands by how many clients. What the clients
/// send is drawn from the same seed.
struct FaultInjectionSchedule: Sendable, Hashable {
    static let clients = 8
    static let defaultFaults = 17

    let seed: UInt64
    let faults: [Fault]
    /// Each client sends so many while one fault comes and goes.
    let commandsPerFault: Int

    init(seed: UInt64, faults count: Int = defaultFaults, commandsPerFault: Int = 12) {
        self.seed = seed
        self.commandsPerFault = commandsPerFault
        var generator = SeededGenerator(seed: seed, 1)
        var faults: [Fault] = []
        var round = 0
        while faults.count < count {
            faults += Self.deck(round, isShort: count <= Self.defaultFaults, &generator)
            round += 1
        }
        self.faults = Array(faults.prefix(count))
    }

    /// For runs that want certain faults.
    init(seed: UInt64, only faults: [Fault], commandsPerFault: Int = 12) {
        self.seed = seed
        self.faults = faults
        self.commandsPerFault = commandsPerFault
    }

    /// How many commands each client has sent in the end.
    var commandsPerClient: Int { commandsPerFault * faults.count }

    var kills: Int { faults.reduce(0) { $0 + $1.kills.servers + $1.kills.postgres } }

    /// Every kind of fault once or more, shuffled: 17 faults with 11 kills.
    private static func deck(_ round: Int, isShort: Bool, _ generator: inout SeededGenerator) -> [Fault] {
        func server() -> Int { Int.random(in: 0...1, using: &generator) }
        var deck: [Fault] = [
            .killServer(0), .killServer(1), .killServer(server()), .killBothServers, .killPostgres, .killPostgres,
            .killPostgresAndServer(server()), .killPostgresAndServer(server()),
            // A server that was stopped for longer than a statement may take has lost its sessions, and its lease.
            .stopServer(server(), milliseconds: Int.random(in: 500...15_000, using: &generator)),
            .stopPostgres(milliseconds: Int.random(in: 500...15_000, using: &generator)),
            .halfOpenConnections, .terminateAppendingSession,
            .cutConnections(Cut.allCases[round % Cut.allCases.count]),
            .holdForeignTransactions,
            .holdLock(milliseconds: Int.random(in: 1_000...2_000, using: &generator)),
            .replaceSubscription(server()),
        ]
        // Ten thousand requests at once are dear, a minute for a debug build. A short run holds the lock for longer than a
        // statement may take, which also ends in 503; a long one cuts in the decks between.
        if isShort {
            deck.append(.holdLock(milliseconds: 11_000))
        } else {
            deck.append(round.isMultiple(of: 4) ? .fillQueue(server: server()) : .cutConnections(.beforeAnswer))
        }
        return deck.shuffled(using: &generator)
    }
}
