import Foundation
import TestDatabase
import Testing

@testable import App

/// `UPDATE_DOCS=1 swift test --filter ReferencePagesTests` writes the pages.
@Suite struct `The reference pages` {
    private static func check(_ path: String, _ expected: String) throws {
        let file = Repository.root.appending(path: path)
        if ProcessInfo.processInfo.environment["UPDATE_DOCS"] == "1" {
            try expected.write(to: file, atomically: true, encoding: .utf8)
        }
        let found = ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(
            separator: "\n", omittingEmptySubsequences: false)
        let wanted = expected.split(separator: "\n", omittingEmptySubsequences: false)
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
            return "| `\(setting.name)` | \(setting.format) | \(setting.documentedDefault) | \(help) |"
        }
        try Self.check(
            "docs/settings.md",
            """
            # Settings

            For operators who configure humon. `humon settings` shows the values in force and their sources.

            The sources, the strongest first: `--database` on the command line, the environment, `.env` in the working directory,
            the default. An empty value counts as not set. An unusable value, or an unknown name with the prefix `HUMON_`, stops a
            command with a message.

            `.env` has one `NAME=VALUE` a line, with or without `export` before it, and is read as Docker Compose reads it: quotes around a
            value are taken away, and ` #` begins a comment. A line that the two could read differently, such as one with `$`, stops a
            command with its number. Single quotes keep every character of a value. Lines of other programs must have this form,
            too: keep those with `${…}` or with values of several lines in a file of their own.

            `humon settings` hides secrets. A secret can stand in a file of its own, which the variable with the suffix `_FILE` names; the
            file may end with a line break. Every user of a machine can read the command lines of its processes (`ps`), so keep the password of a
            database out of `--database`: put it into `DATABASE_URL`, `DATABASE_URL_FILE` or `~/.pgpass`.

            A test holds this page equal to `Sources/App/Settings`. `UPDATE_DOCS=1 swift test --filter ReferencePagesTests` writes it.

            | name | format | default | meaning |
            |---|---|---|---|
            \(rows.joined(separator: "\n"))

            ## Fixed limits

            No setting changes these.

            | limit of a node | value | a client beyond it gets |
            |---|---|---|
            | size of a request body | \(FixedLimits.bodyBytes) bytes | 413 |
            | length of a path and query | \(FixedLimits.targetBytes) bytes | 414 |
            | size of a request line and its header fields | \(FixedLimits.headerBytes) bytes | 431 |
            | time until a request has arrived, and until a new connection sends its first byte | \(FixedLimits.arrivalSeconds) s | 408; the connection is closed |
            | time from the arrival of a request to its response | HUMON_STATEMENT_TIMEOUT_SECONDS and \(FixedLimits.answerSeconds) s | 503 |
            | time that a connection may be idle | \(FixedLimits.idleSeconds) s | the connection is closed |
            | memory for unsent responses and arriving bodies | \(FixedLimits.bufferMegabytes) MB | 503 for large responses and bodies |
            | open streams of changes of a user, if HUMON_READS is devices | \(FixedLimits.streamsPerUser) | 429 |
            | streams of changes that a client address opens in a minute | \(FixedLimits.streamOpeningsPerMinute) | 429 |
            | sign-ups on the map page of a node in a minute | \(FixedLimits.sessionsOfNodePerMinute) | 429 |
            | time that open requests have when a node stops, after HUMON_DRAIN_SECONDS | \(FixedLimits.shutdownSeconds) s | the connection is closed |

            """)
    }

    @Test func `docs cli md lists each command with its options`() throws {
        let root = try CommandReference.root()
        try Self.check(
            "docs/cli.md",
            """
            # Command line

            For operators who use the `humon` command. `humon --version` prints the version, and
            `humon --generate-completion-script bash`, `zsh` or `fish` a script that lets the shell complete commands and options.

            A test holds this page equal to the commands in `Sources/App/Commands`. `UPDATE_DOCS=1 swift test --filter
            ReferencePagesTests` writes it.

            **Database.** A command works on the database of `--database`, or else of `DATABASE_URL`, or else on the private PostgreSQL in
            `HUMON_DATA`. If that one does not run, the command starts it, and stops it at the end if no other program uses it;
            meanwhile no server can start on that directory. `serve`, `migrate`, `demo` and `log import` create a private PostgreSQL if none exists.

            **Output.** People get aligned tables, in colours on a terminal unless `NO_COLOR` is set. Long lines wrap: `humon log tail | less -S`
            cuts them, and `--json` with `jq` chooses members. The name of a column is the name of its member in JSON. Its last word is the unit:
            `at` (a time), `seconds`, `bytes`, and `second` or `day` (a rate). Tables omit some members that only programs read, such as ids.
            Progress and advice go to standard error. humon shows control characters of stored data as JSON escapes, and addresses,
            places and devices as `(hidden)`.

            **Consent.** Commands that delete data or cannot be undone ask on a terminal. Without a terminal they require `--yes`, else they
            change nothing.

            **Exit codes.** Scripts can rely on them.

            | code | meaning |
            |---|---|
            | 0 | success; also if the reader of the output is gone, as in `humon log tail \\| head` |
            | 1 | failure; standard error says why |
            | 2 | the command ran and its answer is no: differences, violations, missing migrations, no result, no consent |
            | 64 | unusable command line |
            | 129, 130, 143 | ended with its terminal, by Ctrl-C, by SIGTERM; a private PostgreSQL that the command started is stopped first |

            ## Commands

            `humon help COMMAND` has the details and an example. Every command also has `--database` and `--json`, unless its row says not.

            | command | does | options |
            |---|---|---|
            \(root.commandRows().joined(separator: "\n"))

            ## Options

            | option | meaning |
            |---|---|
            \(root.optionRows().joined(separator: "\n"))

            """)
    }
}
