import Foundation
import TestDatabase
import Testing
import Yams

@Suite struct `The safety of a deployment` {
    private static func services(_ path: String = "docker-compose.yml") throws -> [String: [String: Any]] {
        let document = try #require(try Yams.load(yaml: Repository.text(path)) as? [String: Any])
        return try #require(document["services"] as? [String: [String: Any]])
    }

    private static func number(_ pattern: Regex<(Substring, Substring)>, in path: String) throws -> Int {
        let found = try #require(try Repository.text(path).firstMatch(of: pattern))
        return try #require(Int(found.1))
    }

    @Test func `every Swift package has one version, those of other packages included`() throws {
        let manifest = try Repository.text("Package.swift")
        #expect(!manifest.contains(/\b(from|branch|revision): "/))
        let listed = try Repository.text("deploy/packages.txt").matches(of: /(?m)^([a-z][\w-]*) (\d+\.\d+\.\d+)$/)
            .map { (String($0.1), String($0.2)) }
        let versions = Dictionary(uniqueKeysWithValues: listed)
        let pinned = manifest.matches(of: /\.package\(url: "[^"]*\/([^"\/]+)", exact: "([^"]+)"/)
        #expect(pinned.count == manifest.matches(of: /\.package\(url:/).count)
        for pin in pinned { #expect(versions[pin.1.lowercased()] == String(pin.2), "\(pin.1)") }
        #expect(try Repository.text("Dockerfile").contains("--force-resolved-versions"))
    }

    @Test func `every image has the tag of one release`() throws {
        let images = try Self.services().compactMapValues { $0["image"] as? String }
        #expect(images.count == (try Self.services()).count)
        for (name, image) in images {
            #expect(image.contains(/:(v?\d+\.\d+(\.\d+)?[\w.-]*|\$\{IMAGE_TAG:-local\})$/), "\(name): \(image)")
        }
        let bases = try Repository.text("Dockerfile").matches(of: /(?m)^ARG \w+_IMAGE=(\S+)$/).map { String($0.1) }
        #expect(bases.count == 3)
        for base in bases { #expect(base.contains(/:\d+\.\d+/), "\(base)") }
    }

    @Test func `every container is confined and limited, and its log is rotated`() throws {
        for (name, service) in try Self.services() {
            #expect(service["cap_drop"] as? [String] == ["ALL"], "\(name)")
            #expect(service["security_opt"] as? [String] == ["no-new-privileges:true"], "\(name)")
            #expect(service["mem_limit"] is String, "\(name)")
            // Docker refuses a limit above the processors of the machine.
            let processors = service["cpus"].flatMap { Double("\($0)") }
            #expect(service["cpu_shares"] is Int || processors.map { $0 <= 1 } == true, "\(name)")
            #expect(service["pids_limit"] is Int, "\(name)")
            // The database also writes outside of its volumes: its socket, and files of its entrypoint.
            #expect(service["read_only"] as? Bool == true || name == "database", "\(name)")
            let options = (service["logging"] as? [String: Any])?["options"] as? [String: Any]
            #expect(options?["max-size"] != nil && options?["max-file"] != nil, "\(name)")
        }
    }

    @Test func `without TLS every published port is on loopback`() throws {
        for (name, service) in try Self.services() {
            for port in service["ports"] as? [String] ?? [] {
                #expect(port.hasPrefix("127.0.0.1:") || port.hasPrefix("${PROXY_ADDRESS:-127.0.0.1}:"), "\(name): \(port)")
            }
        }
    }

    @Test func `the buffers of all requests that nginx admits fit into its memory`() throws {
        let path = "deploy/nginx/server.conf"
        let server = try Repository.text(path)
        let response =
            try Self.number(/\nproxy_buffers (\d+) 16k;/, in: path) * 16 + Self.number(/\nproxy_buffer_size (\d+)k;/, in: path)
        let request = try Self.number(/\nclient_body_buffer_size (\d+)k;/, in: path)
        let requests = try Self.number(/\nlimit_conn requests_of_all (\d+);/, in: path)
        let kibibytes = requests * (request + response)
        #expect(try Self.services()["proxy"]?["mem_limit"] as? String == "1g")
        // The rest is for streams and connections.
        #expect(kibibytes * 1_024 < 600_000_000)
        let tls = try Repository.text("deploy/nginx/templates/tls.conf.template")
        #expect(tls.contains("http2_max_concurrent_streams 32;"))
        for limit in ["limit_conn requests_of_client ", "limit_conn streams_of_client ", "limit_req zone=rate_of_client "] {
            #expect(server.contains(limit))
            // The server that redirects to TLS does not include server.conf.
            #expect(limit.contains("streams") || tls.contains(limit))
        }
    }

    @Test func `no log of nginx quotes a request line, a query or a token`() throws {
        let (server, humon, tls) = (
            try Repository.text("deploy/nginx/server.conf"), try Repository.text("deploy/nginx/templates/humon.conf.template"),
            try Repository.text("deploy/nginx/templates/tls.conf.template")
        )
        // Every server block has the line itself, or includes server.conf.
        #expect(server.contains("\nerror_log stderr emerg;\n"))
        for text in [humon, tls] {
            for block in text.split(separator: "\nserver {").dropFirst() {
                #expect(block.contains("include humon/server.conf;") || block.contains("error_log stderr emerg;"))
            }
        }
        for variable in ["$request ", "$request\"", "$request_uri\"", "$args", "$query_string", "$http_", "$cookie"] {
            let format = try #require(humon.firstMatch(of: /log_format humon([^;]*);/)).1
            #expect(!format.contains(variable), "\(variable)")
        }
    }

    @Test func `nginx listens with IPv6 wherever it listens for other machines`() throws {
        let pattern = /(?m)^ +PROXY_\w*LISTEN: "(.*)"$/
        let directives = try ["docker-compose.yml", "docker-compose.tls.yml"].flatMap { file in
            try Repository.text(file).matches(of: pattern).map { String($0.1) }
        }
        #expect(directives.count == 4)
        for directive in directives where !directive.contains("127.0.0.1") {
            let port = try #require(directive.firstMatch(of: /listen (\d+)/)).1
            #expect(directive.contains("listen [::]:\(port)"), "\(directive)")
        }
    }

    @Test func `PostgreSQL archives alike with Patroni and without`() throws {
        let patroni = try Repository.text("deploy/patroni/patroni.yml")
        let alone = try Repository.text("deploy/postgres/postgresql.conf")
        for setting in ["archive_command", "archive_timeout", "wal_compression"] {
            func value(_ text: String) throws -> String {
                let line = try #require(
                    text.split(separator: "\n").first { $0.trimmingCharacters(in: .whitespaces).hasPrefix(setting) })
                return line.drop { $0 != ":" && $0 != "=" }.dropFirst().trimmingCharacters(in: CharacterSet(charactersIn: " '"))
            }
            #expect(try value(patroni) == value(alone), "\(setting)")
        }
    }

    @Test func `etcd compacts itself, and its root and Patroni have passwords of their own`() throws {
        #expect(try Repository.text("deploy/etcd/etcd.template").contains(/(?m)^ETCD_AUTO_COMPACTION_RETENTION=\d+h$/))
        let enabling = try Repository.text("deploy/etcd/enable-authentication")
        #expect(enabling.contains("user add root --interactive=false <\"$1/etcd_root_password\""))
        #expect(enabling.contains("user add patroni --interactive=false <\"$1/etcd_password\""))
    }

    @Test func `no server of the network admits PostgreSQL's superuser`() throws {
        for file in ["deploy/patroni/patroni.yml", "deploy/postgres/pg_hba.conf"] {
            let remote = try Repository.text(file).matches(of: /(?m)^[ -]*host\w* +\S+ +(\S+)/).map { String($0.1) }
            #expect(remote.count > 2)
            for users in remote { #expect(!users.split(separator: ",").contains { $0 == "postgres" || $0 == "all" }, "\(file)") }
        }
    }

    @Test func `HAProxy on two machines leaves PostgreSQL a fifth of its connections`() throws {
        let passed = try Self.number(/server a .* maxconn (\d+)/, in: "deploy/haproxy/haproxy.cfg")
        let there = try Self.number(/max_connections: (\d+)/, in: "deploy/patroni/patroni.yml")
        #expect(2 * passed + there / 5 <= there)
    }

    @Test func `every alert is seen firing by a test of its own rules`() throws {
        let files = ["alerts-test.yml", "alerts-days-test.yml"].map { "deploy/prometheus/\($0)" }
        let seen = Set(
            try files.flatMap { try Repository.text($0).matches(of: /\{alertname="(\w+)"\}/).map { String($0.1) } })
        let rules = try ["alerts.yml", "machine-alerts.yml"].flatMap { file in
            try Repository.text("deploy/prometheus/\(file)").matches(of: /- alert: (\w+)/).map { String($0.1) }
        }
        #expect(rules.count > 60)
        for rule in rules { #expect(seen.contains(rule), "no test sees \(rule) fire") }
    }

    @Test func `every alert has a runbook, and every runbook an alert`() throws {
        let sections = try Repository.text("docs/runbooks.md").split(separator: "\n### ").dropFirst().map(String.init)
        let runbooks = sections.filter { $0.contains("**Means:**") }
        for runbook in runbooks {
            for part in ["**Look:**", "**Type:**", "**Wake:**"] { #expect(runbook.contains(part), "\(runbook.prefix(40))") }
        }
        var linked: [String] = []
        for file in ["alerts.yml", "machine-alerts.yml"] {
            let rules = try Repository.text("deploy/prometheus/\(file)").split(separator: "- alert: ").dropFirst()
            for rule in rules {
                let name = String(rule.prefix { $0 != "\n" })
                let page = "file:///usr/share/doc/humon/runbooks.md#\(name.lowercased())"
                #expect(rule.contains("runbook_url: \"\(page)\"\n"), "\(name)")
                linked.append(name)
            }
        }
        #expect(runbooks.map { String($0.prefix { $0 != "\n" }) }.sorted() == linked.sorted())
        #expect(try Repository.text("docs/deploying.md").contains("/usr/share/doc/humon/runbooks.md"))
    }

    @Test func `no unit is restarted for ever without pauses, and its documentation is installed`() throws {
        let folder = Repository.root.appending(path: "deploy/systemd")
        let guide = try Repository.text("docs/deploying.md")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        for name in names where name.contains(/\.(service|timer|conf)$/) {
            let unit = try Repository.text("deploy/systemd/\(name)")
            if unit.contains(/(?m)^Restart(Sec)?=/) { #expect(unit.contains(/(?m)^StartLimitBurst=\d+/), "\(name)") }
            let paths = unit.matches(of: /file:\/\/(\S+)/).map { String($0.1) }
            #expect(!paths.isEmpty, "\(name)")
            for path in paths { #expect(guide.contains(path), "docs/deploying.md does not install \(path)") }
        }
    }
}
