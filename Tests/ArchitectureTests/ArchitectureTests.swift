import Testing

@Suite struct `The modules` {
    /// What each target may import of the project's own: only what stands to its left.
    static let allowed: [String: Set<String>] = [
        "CLibPQ": [],
        "CJemalloc": [],
        "CZlib": [],
        "Notation": [],
        "Telemetry": [],
        "Postgres": ["CLibPQ", "Notation", "Telemetry"],
        "EmbeddedPostgres": [],
        "EventStore": ["Postgres", "Notation", "Telemetry"],
        "Users": ["EventStore", "Postgres", "Notation"],
        "Events": ["Users", "EventStore", "Postgres", "Notation", "CJemalloc"],
        "Attendances": ["Events", "Users", "EventStore", "Postgres", "Notation"],
        "HTTP": ["Attendances", "Events", "Users", "Notation", "Telemetry", "CZlib"],
        "App": [
            "HTTP", "Attendances", "Events", "Users", "EventStore", "EmbeddedPostgres", "Postgres", "Notation", "Telemetry",
        ],
    ]

    @Test func `are those of the design`() throws {
        let folders = try SourceTree.files(below: "Sources", ending: "").compactMap { $0.split(separator: "/").dropFirst().first }
        #expect(Set(folders.map(String.init)) == Set(Self.allowed.keys))
    }

    @Test(arguments: allowed.keys.sorted())
    func `import only what stands to their left`(target: String) throws {
        for file in try SourceTree.files(below: "Sources/\(target)", ending: ".swift") {
            for module in SourceTree.imports(in: try SourceTree.text(file)) where Self.allowed[module] != nil {
                #expect(Self.allowed[target]?.contains(module) == true, "\(file) imports \(module)")
            }
        }
    }

    @Test func `leave Hummingbird to HTTP and App`() throws {
        for file in try SourceTree.files(below: "Sources", ending: ".swift")
        where !file.hasPrefix("Sources/HTTP/") && !file.hasPrefix("Sources/App/") {
            let imports = try SourceTree.imports(in: SourceTree.text(file))
            #expect(!imports.contains { $0.hasPrefix("Hummingbird") || $0.hasPrefix("NIO") }, "\(file)")
        }
    }

    @Test func `ask nobody over HTTP but the collector of traces and, as the doctor, a server`() throws {
        let asking = try SourceTree.files(below: "Sources", ending: ".swift").filter { file in
            let imports = try SourceTree.imports(in: SourceTree.text(file))
            return imports.contains("AsyncHTTPClient") || imports.contains("FoundationNetworking")
        }
        #expect(asking == ["Sources/App/Doctor/MemoryCheck.swift", "Sources/App/Tracing/SpanExporter.swift"])
    }

    /// Whenever a closure is taken out of a `Mutex` by itself the compiler wraps it anew and leaves the wrapped one inside, until calling
    /// it overflows the stack. In a struct, or in an array, it is left as it is.
    @Test func `keep no closure by itself in a Mutex`() throws {
        let closure = /Mutex<(?!\[)[^>]*->/
        for file in try SourceTree.files(below: "Sources", ending: ".swift") {
            #expect(try !SourceTree.text(file).contains(closure), "\(file)")
        }
        #expect("Mutex<(@Sendable (Notification) -> Void)?>(nil)".contains(closure))
    }

    @Test func `name no table of another's`() throws {
        for schema in ["users", "events", "attendances"] {
            let owner = "Sources/\(schema.prefix(1).uppercased() + schema.dropFirst())/"
            for file in try SourceTree.files(below: "Sources", ending: ".swift") where !file.hasPrefix(owner) {
                let text = try SourceTree.text(file)
                #expect(!text.contains("FROM \(schema)."), "\(file)")
                #expect(!text.contains("JOIN \(schema)."), "\(file)")
            }
        }
    }

    @Test func `write read models only in projections, and read the log only in the event store`() throws {
        for file in try SourceTree.files(below: "Sources", ending: ".swift") {
            let text = try SourceTree.text(file)
            if !file.hasPrefix("Sources/EventStore/") { #expect(!text.contains("recorded_events"), "\(file)") }
            guard !file.hasSuffix("Projection.swift"), !file.hasPrefix("Sources/EventStore/"),
                !file.hasPrefix("Sources/Postgres/")
            else {
                continue
            }
            for verb in ["INSERT INTO", "UPDATE \\(", "DELETE FROM", "TRUNCATE"] {
                #expect(!text.contains(verb), "\(file)")
            }
        }
    }

    @Test func `have no type of a module's name`() throws {
        for file in try SourceTree.files(below: "Sources", ending: ".swift") {
            let text = try SourceTree.text(file)
            for module in Self.allowed.keys {
                let declares = try text.contains(Regex("(struct|class|enum|actor|protocol|typealias) \(module)\\b"))
                #expect(!declares, "\(file) declares \(module)")
            }
        }
    }
}

@Suite struct `The sources` {
    @Test func `stay under 300 lines a file`() throws {
        for folder in ["Sources", "Tests"] {
            for file in try SourceTree.files(below: folder, ending: ".swift") {
                let lines = try SourceTree.text(file).split(separator: "\n", omittingEmptySubsequences: false).count
                #expect(lines <= 301, "\(file) has \(lines) lines")
            }
        }
    }

    @Test func `have none of the nouns that mean nothing`() throws {
        for file in try SourceTree.files(below: "Sources", ending: ".swift") {
            for noun in ["Utils", "Helpers", "Core.swift", "Common", "Manager"] { #expect(!file.contains(noun), "\(file)") }
        }
    }

    @Test func `say what protects what where the compiler cannot see it`() throws {
        for file in try SourceTree.files(below: "Sources", ending: ".swift") {
            let lines = try SourceTree.text(file).split(separator: "\n", omittingEmptySubsequences: false)
            for (index, line) in lines.enumerated() where line.contains("@unchecked Sendable {") {
                #expect(index > 0 && lines[index - 1].contains("`@unchecked`:"), "\(file):\(index + 1)")
            }
        }
    }
}

@Suite struct `The migrations` {
    @Test func `all travel inside the program`() throws {
        let files = try SourceTree.files(below: "db/migrations", ending: ".sql").compactMap {
            $0.split(separator: "/").last?.dropLast(4)
        }
        let listed = try SourceTree.text("Sources/EventStore/Schema.swift")
            .matches(of: /name: "(\d{4}_\w+)"/).map { $0.1 }
        #expect(listed == files)
    }
}
