import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Where connections to PostgreSQL are cut.
enum Cut: Sendable, Hashable, CaseIterable {
    /// All of them, wherever they are.
    case everywhere
    /// That of a writer, when PostgreSQL has carried out its append and the answer is on its way: the lost acknowledgement.
    case beforeAnswer
    /// That of a writer, when its statements were sent.
    case afterSending
    /// That of a writer, in the midst of its statements.
    case whileSending
}

/// Stands between humon and PostgreSQL, on a Unix socket of its own, so that connections can be cut at will and another cluster
/// put behind them.
final class CuttingProxy: Sendable {
    typealias Side = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private struct State: Sendable {
        var upstream: String
        var armed: Cut?
        var cuts = 0
        var number = 0
        var links: [Int: (front: any Channel, back: any Channel, link: Link)] = [:]
    }

    /// What a connection's two directions tell each other.
    private final class Link: Sendable {
        let isWriter = Atomic(false)
        let losesAnswer = Atomic(false)
        /// Whether the back has gone without a word to the front.
        let isHalfOpen = Atomic(false)
    }

    private struct WasCut: Error {}

    private let state: Mutex<State>
    private let listener: NIOAsyncChannel<any Channel, Never>

    /// - Parameters:
    ///   - directory: where the proxy's socket is; what libpq takes as `host`
    ///   - upstream: the same of the cluster
    init(directory: String, upstream: String) async throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        state = Mutex(State(upstream: upstream))
        listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            // Nothing is read before somebody serves the connection.
            .childChannelOption(.autoRead, value: false)
            .bind(unixDomainSocketPath: Self.socket(in: directory), cleanupExistingSocketFile: true) { channel in
                channel.eventLoop.makeSucceededFuture(channel)
            }
    }

    func run() async throws {
        try await listener.executeThenClose { connections in
            try await withThrowingDiscardingTaskGroup { group in
                for try await front in connections { group.addTask { await self.serve(front) } }
            }
        }
    }

    /// From now on connections lead to another cluster; those there are end.
    func lead(to upstream: String) {
        state.withLock { $0.upstream = upstream }
        cutAll()
    }

    /// Returns when it has happened.
    func cut(_ cut: Cut) async throws {
        guard cut != .everywhere else { return cutAll() }
        let before = state.withLock { state in
            state.armed = cut
            return state.cuts
        }
        defer { state.withLock { $0.armed = nil } }
        try await wait(for: "an append to cut off") { state.withLock { $0.cuts } > before }
    }

    /// Makes the present connections end at this proxy: it closes PostgreSQL's side and keeps humon's side open, where it takes
    /// every byte and answers none. New connections work.
    func halfOpen() {
        for (_, back, link) in state.withLock({ Array($0.links.values) }) {
            link.isHalfOpen.store(true, ordering: .releasing)
            back.close(promise: nil)
        }
    }

    private func cutAll() {
        for (front, back, _) in state.withLock({ Array($0.links.values) }) {
            front.close(promise: nil)
            back.close(promise: nil)
        }
    }

    private func serve(_ channel: any Channel) async {
        guard let front = try? await wrap(channel) else { return }
        let upstream = Self.socket(in: state.withLock { $0.upstream })
        let connected = try? await connect(to: upstream)
        let link = Link()
        try? await front.executeThenClose { requests, answers in
            guard let back = connected else { return }
            let number = register(front.channel, back.channel, link)
            defer { state.withLock { _ = $0.links.removeValue(forKey: number) } }
            try await back.executeThenClose { backAnswers, backRequests in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        for try await chunk in requests where !link.isHalfOpen.load(ordering: .acquiring) {
                            do { try await self.forward(chunk, link, to: backRequests) } catch {
                                // The back may have gone while this was on its way.
                                guard link.isHalfOpen.load(ordering: .acquiring) else { throw error }
                            }
                        }
                    }
                    group.addTask {
                        do {
                            for try await chunk in backAnswers where !link.isHalfOpen.load(ordering: .acquiring) {
                                guard !link.losesAnswer.load(ordering: .acquiring) else { throw WasCut() }
                                try await answers.write(chunk)
                            }
                        } catch {
                            guard link.isHalfOpen.load(ordering: .acquiring) else { throw error }
                        }
                        // Until humon gives its side up.
                        while link.isHalfOpen.load(ordering: .acquiring) { try await Task.sleep(for: .seconds(1)) }
                    }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            }
        }
    }

    private func connect(to socket: String) async throws -> Side {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.autoRead, value: false)
            .connect(unixDomainSocketPath: socket).get()
        return try await wrap(channel)
    }

    /// Only a connection that will be served: an unused wrapping ends the process.
    private func wrap(_ channel: any Channel) async throws -> Side {
        let side = try await channel.eventLoop.submit { try Side(wrappingChannelSynchronously: channel) }.get()
        try? await channel.setOption(.autoRead, value: true).get()
        return side
    }

    private func register(_ front: any Channel, _ back: any Channel, _ link: Link) -> Int {
        state.withLock { state in
            state.number += 1
            state.links[state.number] = (front, back, link)
            return state.number
        }
    }

    private func forward(_ chunk: ByteBuffer, _ link: Link, to back: NIOAsyncChannelOutboundWriter<ByteBuffer>) async throws {
        // The statement's text is sent once a connection, when it is prepared; what comes later is known by its connection.
        if chunk.readableBytesView.firstRange(of: Array("log.append".utf8)) != nil {
            link.isWriter.store(true, ordering: .releasing)
        }
        switch link.isWriter.load(ordering: .acquiring) ? takeArmed() : nil {
        case nil: try await back.write(chunk)
        case .everywhere, .afterSending:
            try await back.write(chunk)
            throw WasCut()
        case .whileSending:
            try await back.write(chunk.getSlice(at: chunk.readerIndex, length: chunk.readableBytes / 2) ?? chunk)
            throw WasCut()
        case .beforeAnswer:
            link.losesAnswer.store(true, ordering: .releasing)
            try await back.write(chunk)
        }
    }

    private func takeArmed() -> Cut? {
        state.withLock { state in
            guard let armed = state.armed else { return nil }
            state.armed = nil
            state.cuts += 1
            return armed
        }
    }

    private static func socket(in directory: String) -> String { "\(directory)/.s.PGSQL.5432" }
}
