import Foundation
import HTTP
import TestDatabase
import Testing

@testable import App

/// `UPDATE_DOCS=1 swift test --filter ReferencePagesTests` writes the pages.
@Suite struct `The reference pages` {
    /// Compares the rows of tables, by the line of their columns. All else is the page's own.
    private static func check(_ path: String, _ tables: [String: [String]]) throws {
        let found = try Repository.text(path).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var (wanted, compared, isCompared) = ([String](), 0, false)
        for line in found {
            if line.isEmpty { isCompared = false }
            if !isCompared { wanted.append(line) }
            guard line.hasPrefix("|---"), let rows = tables[wanted.dropLast().last ?? ""] else { continue }
            wanted += rows
            (compared, isCompared) = (compared + 1, true)
        }
        #expect(compared == tables.count, "\(path) lacks a table")
        if ProcessInfo.processInfo.environment["UPDATE_DOCS"] == "1" {
            let file = Repository.root.appending(path: path)
            try wanted.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
            return
        }
        for change in wanted.difference(from: found) {
            switch change {
            case .insert(let line, let text, _): Issue.record("\(path) lacks line \(line + 1): \(text)")
            case .remove(let line, let text, _): Issue.record("\(path) has an outdated line \(line + 1): \(text)")
            }
        }
    }

    @Test func `docs settings md lists each setting with its format, default and help`() throws {
        var reader = SettingReader(places: [])
        let rows = Settings(&reader).all.map { setting in
            let help =
                setting.help
                + (setting.isSecret ? " Secret, also in the file that `\(Setting.fileName(of: setting.name))` names." : "")
                + (setting.since == "1.0.0" ? "" : " Since \(setting.since).")
            return "| `\(setting.name)` | \(setting.format) | \(setting.documentedDefault) | \(help) |"
        }
        try Self.check("docs/settings.md", ["| name | format | default | meaning |": rows])
    }

    @Test func `docs settings md has the value of each fixed limit`() throws {
        let page = try Repository.text("docs/settings.md")
        for (limit, value) in [
            ("size of a request body", "\(API.bodyLimitBytes) bytes"),
            ("length of a path and query", "\(API.targetLimitBytes) bytes"),
            ("size of a request line and its header fields", "\(FixedLimits.headerBytes) bytes"),
            (
                "time until a request has arrived, and until a new connection sends its first byte",
                "\(FixedLimits.arrivalSeconds) s"
            ),
            (
                "time from the arrival of a request to its response",
                "HUMON_STATEMENT_TIMEOUT_SECONDS and \(FixedLimits.answerSeconds) s"
            ),
            ("time that a connection may be idle", "\(FixedLimits.idleSeconds) s"),
            ("connections to HUMON_ADMIN_PORT", "\(FixedLimits.operatorConnections)"),
            ("memory for unsent responses and arriving bodies", "\(FixedLimits.bufferMegabytes) MB"),
            ("open streams of changes of a user, if HUMON_READS is devices", "\(FixedLimits.streamsPerUser)"),
            ("streams of changes that a client address opens in a minute", "\(FixedLimits.streamOpeningsPerMinute)"),
            ("sign-ups on the map page of a node in a minute", "\(FixedLimits.sessionsOfNodePerMinute)"),
            ("returns with a pass of a client address in a minute", "\(SharedLimits.returnsPerMinute)"),
            ("returns with a pass at a node in a minute", "\(SharedLimits.allReturnsPerMinute)"),
            ("reads of a secret address of a calendar in a minute", "\(SharedLimits.calendarReadsPerMinute)"),
            ("time that open requests have when a node stops, after HUMON_DRAIN_SECONDS", "\(FixedLimits.shutdownSeconds) s"),
        ] { #expect(page.contains("\n| \(limit) | \(value) | "), "\(limit)") }
    }

    @Test func `docs cli md lists each command with its options`() throws {
        let root = try CommandReference.root()
        let tables = ["| command | does | options |": root.commandRows(), "| option | meaning |": root.optionRows()]
        try Self.check("docs/cli.md", tables)
    }
}
