import Encoding
import Foundation
import Synchronization
import TestDatabase

/// A Chromium process without a window, and the pipe that carries its DevTools protocol: JSON texts, each ended by a zero byte.
final class DevToolsPipe: Sendable {
    struct ProtocolError: Error, CustomStringConvertible { let description: String }

    /// `@unchecked`: `Process` and its pipes are used by the initialiser, and then by `stop` only.
    private struct Browser: @unchecked Sendable {
        let process = Process()
        let commands = Pipe()
        let answers = Pipe()
    }

    private struct State: Sendable {
        var number = 0
        var unread = Data()
        var waiting: [Int: CheckedContinuation<JSON, any Error>] = [:]
        var events: [JSON] = []
        var isClosed = false
    }

    /// A busy machine starts Chromium in half a minute.
    private static let answerSeconds = 60
    private static let endSeconds = 30

    private let browser = Browser()
    private let state = Mutex(State())

    /// - Parameter arguments: besides those for a browser without a window
    init(profile: URL, _ arguments: [String] = []) throws {
        let process = browser.process
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        // Chromium reads commands from descriptor 3 and writes to 4. `Process` gives a child three descriptors only. The variable is for
        // systems where the program has another name.
        process.arguments =
            [
                "-c", #"exec "${CHROMIUM:-chromium}" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#, "sh", "--headless=new",
                "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--disable-background-networking", "--accept-lang=en-US", "--user-data-dir=\(profile.path)",
            ] + arguments + ["about:blank"]
        process.standardInput = browser.commands
        process.standardOutput = browser.answers
        // A write to a browser that has ended is an error, and no signal.
        signal(SIGPIPE, SIG_IGN)
        try process.run()
        // No `readabilityHandler`: libdispatch keeps an event of a descriptor that is closed while another process still holds the pipe,
        // and then crashes the tests.
        Thread.detachNewThread { [browser, weak self] in
            while true {
                let bytes = browser.answers.fileHandleForReading.availableData
                self?.received(bytes)
                if bytes.isEmpty { return }
            }
        }
    }

    /// Sends a command and waits for its result.
    func send(_ method: String, _ parameters: JSON = [:], session: String? = nil) async throws -> JSON {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        let deadline = Task {
            try await Task.sleep(for: .seconds(Self.answerSeconds))
            let waiting = state.withLock { $0.waiting.removeValue(forKey: number) }
            waiting?.resume(throwing: ProtocolError(description: "no answer to \(method) within \(Self.answerSeconds) s"))
        }
        defer { deadline.cancel() }
        return try await withCheckedThrowingContinuation { continuation in
            let message: Data? = state.withLock { state in
                guard !state.isClosed else { return nil }
                state.waiting[number] = continuation
                var command: JSON = ["id": JSON(number), "method": .string(method), "params": parameters]
                if let session { command = command.adding("sessionId", .string(session)) }
                return Data(command.utf8) + [0]
            }
            guard let message else {
                return continuation.resume(
                    throwing: ProtocolError(description: "the browser ended before \(method): is chromium installed?"))
            }
            do {
                try browser.commands.fileHandleForWriting.write(contentsOf: message)
            } catch {
                state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(throwing: error)
            }
        }
    }

    /// The events that came since the last ``takeEvents()``.
    var events: [JSON] { state.withLock { $0.events } }

    /// The events that came since the last call.
    func takeEvents() -> [JSON] {
        state.withLock { state in
            defer { state.events = [] }
            return state.events
        }
    }

    /// Whether the browser has ended.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Ends the browser by force, without a task.
    func kill() { Foundation.kill(browser.process.processIdentifier, SIGKILL) }

    /// Ends the browser, in the end by force.
    func stop() async {
        guard browser.process.endStatus == nil else { return }
        browser.process.terminate()
        _ = try? await browser.process.untilEnd(within: .seconds(Self.endSeconds))
    }

    private func received(_ bytes: Data) {
        let (answers, abandoned) = state.withLock { state in
            var answers: [(CheckedContinuation<JSON, any Error>, JSON)] = []
            state.unread += bytes
            while let end = state.unread.firstIndex(of: 0) {
                let message = try? JSON(utf8: Array(state.unread[..<end]))
                state.unread = Data(state.unread[(end + 1)...])
                guard let message else { continue }
                if let number = message["id"]?.integer, let waiting = state.waiting.removeValue(forKey: number) {
                    answers.append((waiting, message))
                } else if message["method"] != nil {
                    state.events.append(message)
                }
            }
            guard bytes.isEmpty else { return (answers, [CheckedContinuation<JSON, any Error>]()) }
            state.isClosed = true
            defer { state.waiting = [:] }
            return (answers, Array(state.waiting.values))
        }
        for (waiting, message) in answers {
            if let error = message["error"] {
                waiting.resume(throwing: ProtocolError(description: error.text))
            } else {
                waiting.resume(returning: message["result"] ?? .null)
            }
        }
        for waiting in abandoned { waiting.resume(throwing: ProtocolError(description: "the browser ended")) }
    }
}

extension JSON {
    var integer: Int? { if case .number(let digits) = self { Int(digits) } else { nil } }
    var string: String? { if case .string(let text) = self { text } else { nil } }
    var elements: [JSON] { if case .array(let elements) = self { elements } else { [] } }

    func adding(_ name: String, _ value: JSON) -> JSON {
        guard case .object(var object) = self else { return self }
        object[name] = value
        return .object(object)
    }
}
