import Encoding
import Foundation
import Logging
import Synchronization
import Testing

@testable import Telemetry

/// The lines that a log writes into a pipe.
final class Pipe: Sendable {
    let ends: (read: Int32, write: Int32)
    let sink: LogSink
    private let text = Mutex<[UInt8]>([])

    init() {
        var ends: [Int32] = [0, 0]
        _ = unsafe pipe(&ends)
        self.ends = (ends[0], ends[1])
        sink = LogSink(descriptor: ends[1])
    }

    deinit {
        close(ends.read)
        close(ends.write)
    }

    /// All lines so far.
    func lines() -> [String] {
        sink.flush()
        _ = fcntl(ends.read, F_SETFL, O_NONBLOCK)
        return text.withLock { text in
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while case let count = unsafe read(ends.read, &buffer, buffer.count), count > 0 { text += buffer[..<count] }
            return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }
}

@Suite struct `A log line` {
    private static let hostile = [
        "a\nb", "\u{1B}[31m", "\"quoted\"", "back\\slash", "\u{0}", "\u{7F}\u{85}\u{2028}\u{202E}", "", "🎉",
        String(decoding: [0xFF, 0xC3, 0x28, 0x22, 0x0A] as [UInt8], as: UTF8.self),
    ]

    private static func logger(_ format: LogFormat, _ pipe: Pipe) -> Logger {
        Logger(label: "test") { _ in LineLogHandler(format, sink: pipe.sink) }
    }

    @Test func `numbers are JSON numbers, and texts that look like numbers are strings`() throws {
        let pipe = Pipe()
        let metadata: Logger.Metadata = [
            "position": .stringConvertible(9_007_199_254_740_993 as Int64), "seconds": .stringConvertible(1.5e-7),
            "endless": .stringConvertible(Double.infinity), "request_id": "42", "list": [.stringConvertible(UInt8(7)), "8"],
        ]
        Self.logger(.json, pipe).error("counted", metadata: metadata)
        Self.logger(.text, pipe).error("counted", metadata: metadata)
        let lines = pipe.lines()
        try #require(lines.count == 2)
        let line = try JSON(utf8: lines[0].utf8)
        #expect(line["position"] == .number("9007199254740993"))
        #expect(line["seconds"] == .number("1.5e-07"))
        #expect(line["endless"] == "inf")
        #expect(line["request_id"] == "42")
        #expect(line["list"] == [.number("7"), "8"])
        #expect(lines[1].contains("position=9007199254740993 request_id=42 seconds=1.5e-07"), "\(lines[1])")
    }

    @Test(arguments: hostile)
    func `any message gives one JSON object`(text: String) throws {
        let pipe = Pipe()
        Self.logger(.json, pipe).error("\(text)", metadata: ["id": "\(text)", "\(text)": "1", "list": [.string(text)]])
        let lines = pipe.lines()
        try #require(lines.count == 1)
        let line = try JSON(utf8: lines[0].utf8)
        #expect(line["message"] == .string(text))
        #expect(line["id"] == .string(text))
        #expect(line[text] == "1")
        #expect(line["list"] == .array([.string(text)]))
    }

    @Test(arguments: hostile)
    func `any message gives one line of text without control characters`(text: String) throws {
        let pipe = Pipe()
        Self.logger(.text, pipe).error("\(text)", metadata: ["id": "\(text)"])
        let lines = pipe.lines()
        try #require(lines.count == 1)
        #expect(lines[0].unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) && $0 != "\u{202E}" })
    }

    @Test func `a text line has time, level and message, then the metadata by name`() throws {
        let pipe = Pipe()
        Self.logger(.text, pipe).warning("it rains", metadata: ["b": "2 3", "a": "1"])
        Self.logger(.json, pipe).warning("it rains", metadata: ["b": "2 3", "a": "1", "level": "high"])
        let lines = pipe.lines()
        #expect(lines[0].wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z warning it rains a=1 b="2 3"/) != nil, "\(lines)")
        #expect(lines[1].hasSuffix(#","level":"warning","message":"it rains","a":"1","b":"2 3","metadata.level":"high"}"#))
    }

    @Test func `no quote of a value ends it, not even one that a mark joins to a larger character`() throws {
        let pipe = Pipe()
        Self.logger(.text, pipe).warning("it rains", metadata: ["a": "x\"\u{301} b=1", "c": "\u{600}\" d=1"])
        let line = try #require(pipe.lines().first)
        #expect(line.utf8.count { $0 == UInt8(ascii: "\"") } == 6 && line.utf8.count { $0 == UInt8(ascii: "\\") } == 2, "\(line)")
    }

    @Test func `a line without a reader is dropped and counted, and the logger does not wait`() throws {
        let pipe = Pipe()
        let logger = Self.logger(.json, pipe)
        let text = String(repeating: "x", count: 1_000)
        // A logger that waited would wait for ever.
        for _ in 0..<3_000 { logger.error("\(text)") }
        #expect((1_500...2_900).contains(pipe.sink.dropped))
        let kept = 3_000 - pipe.sink.dropped
        for _ in 0..<100 where pipe.lines().count < kept {}
        logger.error("again")
        let lines = pipe.lines()
        #expect(lines.count == kept + 2)
        #expect(try JSON(utf8: lines[lines.count - 2].utf8)["lines"] == JSON(pipe.sink.dropped))
    }

    @Test func `a text waits behind the lines before it until the reader of a full pipe that does not block reads`() {
        let pipe = Pipe()
        _ = fcntl(pipe.ends.write, F_SETFL, O_NONBLOCK)
        let zeros = [UInt8](repeating: 0, count: 4_096)
        while unsafe write(pipe.ends.write, zeros, zeros.count) > 0 {}
        Self.logger(.text, pipe).error("it rains")
        pipe.sink.write("tea?")
        pipe.sink.write(" yes\n")
        for _ in 0..<100 where pipe.lines().last != "tea? yes" {}
        #expect(pipe.lines().suffix(2).first?.hasSuffix("it rains") == true)
        #expect(pipe.lines().last == "tea? yes")
        #expect(pipe.sink.dropped == 0)
    }

    @Test func `lines that a full disk loses are counted, and the next line names their number`() throws {
        // Every write to this device fails as on a full disk.
        let descriptor = unsafe open("/dev/full", O_WRONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        let sink = LogSink(descriptor: descriptor)
        let logger = Logger(label: "test") { _ in LineLogHandler(.json, sink: sink) }
        for batch in 1...3 {
            for _ in 0..<100 { logger.error("it rains") }
            sink.flush()
            #expect(sink.dropped == batch * 100)
        }
        let pipe = Pipe()
        try #require(dup2(pipe.ends.write, descriptor) >= 0)
        logger.error("again")
        sink.flush()
        let lines = pipe.lines()
        try #require(lines.count == 2, "\(lines)")
        #expect(try JSON(utf8: lines[0].utf8)["lines"] == JSON(300))
        #expect(try JSON(utf8: lines[1].utf8)["message"] == "again")
        #expect(sink.dropped == 300)
    }
}

@Suite struct `The metadata of a logger` {
    private let pipe = Pipe()

    private var logger: Logger { Logger(label: "test") { _ in LineLogHandler(.text, sink: pipe.sink) } }

    private var told: [Substring] { pipe.lines().compactMap { $0.split(separator: "error ").last } }

    @Test func `the metadata of a logger is in every message, that of a message in its own, where it wins`() {
        var logger = logger
        logger[metadataKey: "request"] = "1"
        logger.error("first", metadata: ["method": "GET"])
        logger.error("second")
        logger.error("third", metadata: ["request": "2"])
        #expect(told == ["first method=GET request=1", "second request=1", "third request=2"])
    }

    @Test func `metadata does not change the log level`() {
        var logger = logger
        logger.logLevel = .error
        logger.warning("first")
        #expect(told.isEmpty)
    }
}
