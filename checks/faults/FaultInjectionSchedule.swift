import Foundation
import TestChance

/// A fault that a run injects while clients use the system.
enum Fault: Sendable, Hashable, CustomStringConvertible {
    /// Kills a server with SIGKILL and starts it again, as every `kill…` case does.
    case killServer(Int)
    case killBothServers
    /// Kills all processes of PostgreSQL at once. The kernel keeps what they wrote: this is no power failure.
    case killPostgres
    case killPostgresAndServer(Int)
    /// Stops a server with SIGSTOP and later continues it with SIGCONT: it accepts connections and does not respond.
    case stopServer(Int, milliseconds: Int)
    /// Stops all processes of PostgreSQL.
    case stopPostgres(milliseconds: Int)
    /// Closes PostgreSQL's side of every connection without notice to the server.
    case halfOpenConnections
    /// Terminates a session that holds the log's lock and so is appending or committing.
    case terminateAppendingSession
    case cutConnections(Cut)
    /// Opens three transactions: one that wrote to another table, one in another database, and one with a snapshot.
    case holdForeignTransactions
    /// Holds the log's lock in a session that is not a writer of the log.
    case holdLock(milliseconds: Int)
    /// Sends appends until a server refuses one.
    case fillQueue(server: Int)
    /// Stops one of the subscriptions of the same name and starts another in its place.
    case replaceSubscription(Int)
    /// Shuts the standby down and starts it again at once. This fault and the next need a standby.
    case restartStandby
    /// Kills the primary for good and promotes the standby.
    /// - Parameter isBehind: whether the standby is away first, while commands go on. Then a primary that does not wait for it
    ///   acknowledges what the standby never gets.
    case failOver(isBehind: Bool)

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
        case .restartStandby: "standby restarted"
        case .failOver: "standby promoted"
        }
    }

    var kills: (servers: Int, postgres: Int) {
        switch self {
        case .killServer: (1, 0)
        case .killBothServers: (2, 0)
        case .killPostgres, .failOver: (0, 1)
        case .killPostgresAndServer: (1, 1)
        case .stopServer, .stopPostgres, .halfOpenConnections, .terminateAppendingSession, .cutConnections,
            .holdForeignTransactions, .holdLock, .fillQueue, .replaceSubscription, .restartStandby:
            (0, 0)
        }
    }

    var description: String {
        switch self {
        case .killServer(let server), .killPostgresAndServer(let server): "\(kind) (server \(server))"
        case .killBothServers: "\(kind) (both)"
        case .killPostgres, .halfOpenConnections, .terminateAppendingSession, .holdForeignTransactions, .restartStandby,
            .failOver:
            kind
        case .stopServer(let server, let milliseconds): "\(kind) (server \(server), \(milliseconds) ms)"
        case .stopPostgres(let milliseconds): "\(kind) (\(milliseconds) ms)"
        case .cutConnections(let cut): "\(kind) (\(cut))"
        case .holdLock(let milliseconds): "\(kind) (\(milliseconds) ms)"
        case .fillQueue(let server): "\(kind) (server \(server))"
        case .replaceSubscription(let subscription): "\(kind) (subscription \(subscription))"
        }
    }
}

/// The plan of a run, derived from its seed: the faults in order, and the number of clients and commands. The clients' requests
/// use the same seed.
struct FaultInjectionSchedule: Sendable, Hashable {
    static let clients = 8

    let seed: UInt64
    let faults: [Fault]
    /// The number of commands that each client sends during one fault.
    let commandsPerFault: Int

    init(seed: UInt64, faults count: Int = 17, commandsPerFault: Int = 12) {
        self.seed = seed
        self.commandsPerFault = commandsPerFault
        var generator = SeededGenerator(seed: seed, 1)
        var faults: [Fault] = []
        var round = 0
        while faults.count < count {
            faults += Self.deck(round, isShort: count <= 17, &generator)
            round += 1
        }
        self.faults = Array(faults.prefix(count))
    }

    /// Six faults, each of another kind, for a run in every gate. A server that was stopped for 12 s has lost its sessions and its lead.
    static func ofGate(seed: UInt64) -> FaultInjectionSchedule {
        var generator = SeededGenerator(seed: seed, 4)
        let faults: [Fault] = [
            .killServer(0), .killPostgres, .killPostgresAndServer(1), .cutConnections(.beforeResponse),
            .terminateAppendingSession,
            .stopServer(1, milliseconds: 12_000),
        ]
        return FaultInjectionSchedule(seed: seed, only: faults.shuffled(using: &generator))
    }

    /// A schedule for a run with a synchronous standby, which takes over after four faults.
    static func ofFailOver(seed: UInt64) -> FaultInjectionSchedule {
        var generator = SeededGenerator(seed: seed, 3)
        let before: [Fault] = [
            .killServer(0), .restartStandby, .cutConnections(.beforeResponse), .stopServer(1, milliseconds: 3_000),
        ]
        let after: [Fault] = [.killPostgresAndServer(0), .terminateAppendingSession, .cutConnections(.everywhere)]
        return FaultInjectionSchedule(
            seed: seed,
            only: before.shuffled(using: &generator) + [.failOver(isBehind: false)] + after.shuffled(using: &generator))
    }

    /// The number of the fault in which the standby takes over; nil without one.
    var failOver: Int? { faults.firstIndex { if case .failOver = $0 { true } else { false } } }

    /// Whether the primary waits for the standby before it acknowledges a commit.
    var hasSynchronousStandby: Bool { faults.contains(.failOver(isBehind: false)) }

    /// A schedule of certain faults.
    init(seed: UInt64, only faults: [Fault], commandsPerFault: Int = 12) {
        self.seed = seed
        self.faults = faults
        self.commandsPerFault = commandsPerFault
    }

    var kills: Int { faults.reduce(0) { $0 + $1.kills.servers + $1.kills.postgres } }

    /// Every kind of fault at least once, shuffled: 17 faults with 11 kills.
    private static func deck(_ round: Int, isShort: Bool, _ generator: inout SeededGenerator) -> [Fault] {
        func server() -> Int { Int.random(in: 0...1, using: &generator) }
        var deck: [Fault] = [
            .killServer(0), .killServer(1), .killServer(server()), .killBothServers, .killPostgres, .killPostgres,
            .killPostgresAndServer(server()), .killPostgresAndServer(server()),
            // A server that was stopped for longer than the statement time-out has lost its sessions and its lead.
            .stopServer(server(), milliseconds: Int.random(in: 500...15_000, using: &generator)),
            .stopPostgres(milliseconds: Int.random(in: 500...15_000, using: &generator)),
            .halfOpenConnections, .terminateAppendingSession,
            .cutConnections(Cut.allCases[round % Cut.allCases.count]),
            .holdForeignTransactions,
            .holdLock(milliseconds: Int.random(in: 1_000...2_000, using: &generator)),
            .replaceSubscription(server()),
        ]
        // Filling the queue takes 10,000 requests, a minute for a debug build. A short run holds the lock for longer than the
        // statement time-out instead, which also ends in 503. A long run fills the queue in every fourth deck and cuts
        // connections in the others.
        if isShort {
            deck.append(.holdLock(milliseconds: 11_000))
        } else {
            deck.append(round.isMultiple(of: 4) ? .fillQueue(server: server()) : .cutConnections(.beforeResponse))
        }
        return deck.shuffled(using: &generator)
    }
}
