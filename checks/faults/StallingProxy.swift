import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// The part of an append that a proxy passes on before it stalls.
enum StalledPart: Sendable, Hashable, CaseIterable {
    /// Half of the bytes of 500 events.
    case half
    /// All of a large transaction but its end. PostgreSQL has carried out every statement, and waits for the commit.
    case allButItsEnd
}

/// A proxy between one server and PostgreSQL. Once it is armed, it passes on a part of an append of its server's, then nothing more in
/// either direction, and keeps both sides open.
final class StallingProxy: Sendable {
    private typealias Side = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private struct State: Sendable {
        var armed: StalledPart?
        /// Bytes of the server's writer since the proxy was armed.
        var passed = 0
        var hasStalled = false
    }

    /// What both directions of a connection share.
    private final class Link: Sendable {
        let isStalled = Atomic(false)
    }

    private static let halfBytes = 100_000
    private static let largeBytes = 8_192
    /// The last message of a transaction. Source: PostgreSQL, *Message Formats*, Sync.
    private static let sync: [UInt8] = [UInt8(ascii: "S"), 0, 0, 0, 4]

    private let upstream: String
    private let state = Mutex(State())
    private let listener: NIOAsyncChannel<any Channel, Never>

    /// - Parameters:
    ///   - directory: the directory of the proxy's socket, which libpq takes as `host`
    ///   - upstream: the directory of the cluster's socket
    init(directory: String, upstream: String) async throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        self.upstream = upstream
        listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelOption(.autoRead, value: false)
            .bind(unixDomainSocketPath: Self.socket(in: directory), cleanupExistingSocketFile: true) { channel in
                channel.eventLoop.makeSucceededFuture(channel)
            }
    }

    func run() async throws {
        try await listener.executeThenClose { connections in
            try await withThrowingDiscardingTaskGroup { group in
                for try await front in connections { group.addTask { try? await self.serve(front) } }
            }
        }
    }

    func arm(_ part: StalledPart) { state.withLock { $0 = State(armed: part) } }

    var hasStalled: Bool { state.withLock { $0.hasStalled } }

    private func serve(_ channel: any Channel) async throws {
        let connected = try? await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.autoRead, value: false)
            .connect(unixDomainSocketPath: Self.socket(in: upstream)).get()
        let front = try await wrap(channel)
        let link = Link()
        try await front.executeThenClose { requests, answers in
            guard let connected else { return }
            try await wrap(connected).executeThenClose { backAnswers, backRequests in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        var isWriter = false
                        for try await chunk in requests where !link.isStalled.load(ordering: .acquiring) {
                            // humon sends the statement's text once a connection, to prepare it.
                            isWriter = isWriter || chunk.readableBytesView.firstRange(of: Array("log.append".utf8)) != nil
                            guard isWriter, let part = self.lastPart(of: chunk) else {
                                try await backRequests.write(chunk)
                                continue
                            }
                            link.isStalled.store(true, ordering: .releasing)
                            try await backRequests.write(part)
                            self.state.withLock { $0.hasStalled = true }
                        }
                    }
                    group.addTask {
                        for try await chunk in backAnswers where !link.isStalled.load(ordering: .acquiring) {
                            try await answers.write(chunk)
                        }
                        // PostgreSQL has closed its side. The server's side stays open until the server closes it.
                        while link.isStalled.load(ordering: .acquiring) { try await Task.sleep(for: .seconds(1)) }
                    }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            }
        }
    }

    /// - Returns: the part of the chunk that is passed on last; `nil` if the connection does not stall with this chunk
    private func lastPart(of chunk: ByteBuffer) -> ByteBuffer? {
        state.withLock { state in
            guard let armed = state.armed else { return nil }
            let before = state.passed
            state.passed += chunk.readableBytes
            let length: Int
            switch armed {
            case .half:
                guard state.passed > Self.halfBytes else { return nil }
                length = Self.halfBytes - before
            case .allButItsEnd:
                guard state.passed > Self.largeBytes, chunk.readableBytesView.suffix(Self.sync.count).elementsEqual(Self.sync)
                else {
                    return nil
                }
                length = chunk.readableBytes - Self.sync.count
            }
            state.armed = nil
            return chunk.getSlice(at: chunk.readerIndex, length: length)
        }
    }

    /// Call this only for a connection that will be served: NIO ends the process for an unused wrapper.
    private func wrap(_ channel: any Channel) async throws -> Side {
        let side = try await channel.eventLoop.submit { try Side(wrappingChannelSynchronously: channel) }.get()
        try? await channel.setOption(.autoRead, value: true).get()
        return side
    }

    private static func socket(in directory: String) -> String { "\(directory)/.s.PGSQL.5432" }
}
