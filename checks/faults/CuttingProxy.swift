import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// The moment at which connections to PostgreSQL are cut.
enum Cut: Sendable, Hashable, CaseIterable {
    /// Cuts all connections at once.
    case everywhere
    /// Cuts a writer's connection after PostgreSQL has committed its append and before the response arrives: the lost
    /// acknowledgement.
    case beforeResponse
    /// Cuts a writer's connection after its statements were sent.
    case afterSending
    /// Cuts a writer's connection in the middle of its statements.
    case whileSending
}

/// A proxy between humon and PostgreSQL on a Unix socket of its own. It can cut connections and switch to another cluster.
final class CuttingProxy: Sendable {
    typealias Side = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private struct State: Sendable {
        var upstream: String
        var armed: Cut?
        var cuts = 0
        var number = 0
        var links: [Int: (front: any Channel, back: any Channel, link: Link)] = [:]
    }

    /// The state that both directions of a connection share.
    private final class Link: Sendable {
        let isWriter = Atomic(false)
        let losesResponse = Atomic(false)
        /// Whether PostgreSQL's side has closed while humon's side stays open.
        let isHalfOpen = Atomic(false)
    }

    private struct WasCut: Error {}

    private let state: Mutex<State>
    private let listener: NIOAsyncChannel<any Channel, Never>

    /// - Parameters:
    ///   - directory: the directory of the proxy's socket, which libpq takes as `host`
    ///   - upstream: the directory of the cluster's socket
    init(directory: String, upstream: String) async throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        state = Mutex(State(upstream: upstream))
        listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            // The proxy reads no bytes before a task serves the connection.
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

    /// Connects new connections to another cluster and closes the present ones.
    func lead(to upstream: String) {
        state.withLock { $0.upstream = upstream }
        cutAll()
    }

    /// Returns after the cut.
    func cut(_ cut: Cut) async throws {
        guard cut != .everywhere else { return cutAll() }
        let before = state.withLock { state in
            state.armed = cut
            return state.cuts
        }
        defer { state.withLock { $0.armed = nil } }
        try await wait(for: "an append to cut off") { state.withLock { $0.cuts } > before }
    }

    /// Makes the present connections half open: closes PostgreSQL's side and keeps humon's side open, which takes every byte
    /// and sends none. New connections work.
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
                                // PostgreSQL's side may have closed while this chunk was on its way.
                                guard link.isHalfOpen.load(ordering: .acquiring) else { throw error }
                            }
                        }
                    }
                    group.addTask {
                        do {
                            for try await chunk in backAnswers where !link.isHalfOpen.load(ordering: .acquiring) {
                                guard !link.losesResponse.load(ordering: .acquiring) else { throw WasCut() }
                                try await answers.write(chunk)
                            }
                        } catch {
                            guard link.isHalfOpen.load(ordering: .acquiring) else { throw error }
                        }
                        // Waits until humon closes its side.
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

    /// Call this only for a connection that will be served: NIO ends the process for an unused wrapper.
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
        // humon sends the statement's text once a connection, to prepare it; later executions are recognised by their
        // connection.
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
        case .beforeResponse:
            link.losesResponse.store(true, ordering: .releasing)
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
