import Testing

/// A rule that a source file keeps or breaks.
struct Rule: Sendable, CustomTestStringConvertible {
    var name: String
    /// The folders that the rule applies to.
    var folders = SourceTree.sources
    /// The violations of a file, each a phrase; empty if the file keeps the rule.
    var violations: @Sendable (_ file: String, _ text: String) -> [String]

    var testDescription: String { name }

    static let all = [
        imports, networking, clients, clocks, mutexes, tables, readModels, log, types, storedTypes, lines, nouns, unchecked,
        throwing, ends, terminals, unsafeCode,
    ]
}

extension Rule {
    static let imports = imports(in: .current)

    static func imports(in project: Project) -> Rule {
        let targets = project.sources
        return Rule(name: "a target imports only its dependencies in Package.swift") { file, text in
            let target = SourceTree.target(of: file)
            return SourceTree.imports(in: text)
                .filter { targets[$0] != nil && targets[target]?.dependencies.contains($0) != true }
                .map { "\(target) imports \($0)" }
        }
    }

    /// HTTP, Web and App share buffers and addresses with the server.
    static let networking = Rule(name: "only HTTPServer listens, and no target imports Hummingbird") { file, text in
        let target = SourceTree.target(of: file)
        let shared = ["HTTP", "Web", "App", "Telemetry"].contains(target) ? ["NIOCore", "NIOHTTP1"] : []
        return SourceTree.imports(in: text).filter { name in
            name.hasPrefix("Hummingbird") || (name.hasPrefix("NIO") && target != "HTTPServer" && !shared.contains(name))
        }.map { "imports \($0)" }
    }

    static let clients = Rule(name: "humon asks only the collector of traces and, by the doctor, a server over HTTP") {
        file, text in
        guard SourceTree.target(of: file) != "HumonClient",
            !["Sources/App/Doctor/OperatorsAddress.swift", "Libraries/Telemetry/Sources/Tracing/SpanExporter.swift"].contains(
                file)
        else { return [] }
        return SourceTree.imports(in: text).filter { ["AsyncHTTPClient", "FoundationNetworking"].contains($0) }
            .map { "imports \($0)" }
    }

    /// The wall clock may jump: it may date an event but not measure a duration.
    static let clocks = Rule(name: "time-outs, leases and limits do not read the clock of the wall") { file, text in
        let tellers = [
            "Libraries/EventStore/Sources/Dependencies.swift", "Libraries/HTTPServer/Sources/Messages/HTTPDate.swift",
            "Libraries/Telemetry/Sources/Logging/LogLine.swift",
            "Sources/App/Metrics/ProcessMetrics.swift", "Sources/App/Doctor/ServerChecks.swift",
        ]
        guard !tellers.contains(file) else { return [] }
        let wall = /\bDate(?:\.now|\(\))|\bCLOCK_REALTIME\b|\bgettimeofday\b|\btime\(nil\)|\bSuspendingClock\b/
        return Self.code(in: text).matches(of: wall.wordBoundaryKind(.simple)).map { String($0.0) }
    }

    /// Each time a closure is taken out of a `Mutex` by itself, the compiler wraps the closure again and leaves the wrapped one
    /// inside, until a call overflows the stack. A closure in a struct or in an array is not wrapped.
    static let mutexes = Rule(name: "no Mutex keeps a closure by itself") { _, text in
        text.matches(of: /Mutex<(?!\[)[^>]*->/).map { String($0.0) }
    }

    static let tables = tables(of: .current)

    /// SQL names the schema of a read model as `\(identifier: UsersProjection.schema)`. Its literal name is `users_v1`.
    static func tables(of project: Project) -> Rule {
        Rule(name: "no module's SQL names another's schema or tables") { file, text in
            let code = Self.code(in: text)
            return project.readModels.filter { $0.module != SourceTree.target(of: file) }.flatMap { model in
                let all = model.tables.union([model.name])
                // Most files name none of them, and patterns are slow.
                guard (all.union([model.type])).contains(where: code.contains) else { return [String]() }
                let names = all.sorted().joined(separator: "|")
                let pattern = [
                    #"\b\#(model.type)\s*\.\s*(?:schema|self)\b"#, #"\b\#(model.name)_v\d"#,
                    #"\b(?:FROM|JOIN|INTO|UPDATE|TABLE|TRUNCATE|REFERENCES|ONLY|SCHEMA)\s+"?(?:\#(names))\b"#,
                    #"\b(?i:from|join|into|update|table|truncate)\s+"?(?:\#(names))"?\."#,
                ].joined(separator: "|")
                // To Unicode `users.users` is one word.
                guard let regex = try? Regex(pattern).wordBoundaryKind(.simple) else { return ["\(pattern) is no pattern"] }
                return code.matches(of: regex).map { String(code[$0.range]) }
            }
        }
    }

    static let readModels = Rule(name: "only projections write read models") { file, text in
        guard !file.hasSuffix("Projection.swift"), !["EventStore", "Postgres"].contains(SourceTree.target(of: file)) else {
            return []
        }
        return ["INSERT INTO", "UPDATE \\(", "DELETE FROM", "TRUNCATE"].filter { text.contains($0) }
    }

    static let log = Rule(name: "only the event store names the log's table") { file, text in
        SourceTree.target(of: file) != "EventStore" && text.contains("recorded_events") ? ["recorded_events"] : []
    }

    static let types = types(in: .current)

    static func types(in project: Project) -> Rule {
        let targets = project.sources
        return Rule(name: "no type has a target's name") { _, text in
            text.matches(of: /\b(?:struct|class|enum|actor|protocol|typealias) (\w+)/).map { String($0.1) }
                .filter { targets[$0] != nil }.map { "declares \($0)" }
        }
    }

    /// `EventLog` cannot append a domain event if the list lacks its stored type.
    static let storedTypes = Rule(name: "a domain event's stored types are all listed") { file, text in
        let code = Self.code(in: text)
        guard SourceTree.target(of: file) != "EventStore", code.contains(": DomainEvent"),
            code.contains(/\benum \w+: DomainEvent\b/)
        else { return [] }
        let listed = Set(code.matches(of: /StoredType\(\s*"(\w+)"/).map { String($0.1) })
        let named = Set(code.matches(of: /"([A-Z]\w*)"/).map { String($0.1) })
        return named.subtracting(listed).sorted().map { "\($0) is not in storedTypes" }
    }

    static let lines = Rule(name: "a file has at most 300 lines", folders: ["Sources", "Libraries", "HumonClient", "Tests"]) {
        _, text in
        // The last line ends with a newline.
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
        return lines > 300 ? ["has \(lines) lines"] : []
    }

    static let nouns = Rule(name: "no file is called by a noun that means nothing") { file, _ in
        ["Utils", "Helpers", "Core.swift", "Common", "Manager"].filter { file.contains($0) }
    }

    static let unchecked = Rule(name: "a comment says what protects what the compiler cannot check") { _, text in
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.filter { index in
            lines[index].contains("@unchecked Sendable {") && (index == 0 || !lines[index - 1].contains("`@unchecked`:"))
        }.map { "line \($0 + 1)" }
    }

    /// Strict memory safety (SE-0458) makes every unsafe expression say `unsafe`.
    static let unsafeCode = Rule(name: "only the files that docs/security.md lists have unsafe code") { file, text in
        guard !UnsafeFiles.listed.contains(file) else { return [] }
        let pattern = /\bunsafe\b|@safe\b|\bUnsafe(?:Mutable)?(?:Raw)?(?:Buffer)?Pointer\b/
        return Self.code(in: text).matches(of: pattern.wordBoundaryKind(.simple)).map { String($0.0) }
    }

    /// Foundation may learn of the end of a process long afterwards: see `Process.endStatus`.
    static let ends = Rule(name: "tests ask the kernel for the end of a process", folders: ["Tests", "Libraries", "HumonClient"])
    { file, text in
        guard file != "Tests/ArchitectureTests/ArchitectureTests.swift" else { return [] }
        return text.matches(of: /\.(?:waitUntilExit\(|terminationHandler\b)/).map { String($0.0) }
    }

    /// A page renders the operator reports too, and it has no options and no commands.
    static let terminals = Rule(name: "only App knows of command lines, and no report names a command or an option") {
        file, text in
        guard SourceTree.target(of: file) != "App" else { return [] }
        let imports = SourceTree.imports(in: text).filter { $0 == "ArgumentParser" }
        let code = Self.code(in: text)
        guard code.contains("OperatorReport") || code.contains("ReportParameter") else { return imports }
        return imports + code.matches(of: /humon [a-z]+|[" (]--?[a-z]\w*|Ctrl-C|isatty/).map { String($0.0) }
    }

    /// Without comments.
    private static func code(in text: String) -> String {
        text.split(separator: "\n").filter { !$0.drop { $0.isWhitespace }.hasPrefix("//") }.joined(separator: "\n")
    }
}
