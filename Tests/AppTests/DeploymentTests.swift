import Foundation
import TestDatabase
import Testing
import Yams

@testable import App

@Suite struct `The files of a deployment` {
    private static let root = Repository.root
    /// Files that are created on the machine and ignored by git.
    private static let made = ["./secrets/", "./tls"]

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path)
    }

    private static func composed(_ path: String) throws -> [String: [String: Any]] {
        let document = try #require(try Yams.load(yaml: text(path)) as? [String: Any])
        return document.compactMapValues { $0 as? [String: Any] }
    }

    private static func files() throws -> [String] {
        let below = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: "deploy").path).map {
            "deploy/\($0)"
        }
        return (below + ["Dockerfile", "docker-compose.yml", "docker-compose.tls.yml"]).filter {
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: root.appending(path: $0).path, isDirectory: &isDirectory)
            return !isDirectory.boolValue
        }
    }

    @Test func `deployment files name only existing settings`() throws {
        let known = Set(Settings.Declarations.all.map(\.name))
        for file in try Self.files() where !file.hasPrefix("deploy/grafana") {
            for line in try Self.text(file).split(separator: "\n") where line.first(where: { $0 != " " }) != "#" {
                for name in line.matches(of: /\b(HUMON_[A-Z_]+|TB_[A-Z_]+|DATABASE_URL\w*)\b/).map({ String($0.1) }) {
                    #expect(known.contains(name), "\(file) sets \(name)")
                }
            }
        }
    }

    @Test(arguments: ["docker-compose.yml", "docker-compose.tls.yml"])
    func `containers mount only existing files`(file: String) throws {
        let services = try #require(try Self.composed(file)["services"])
        for (name, service) in services {
            for volume in (service as? [String: Any])?["volumes"] as? [String] ?? [] where volume.hasPrefix("./") {
                let source = try #require(volume.split(separator: ":").first).description
                guard !Self.made.contains(where: source.hasPrefix) else { continue }
                #expect(Self.exists(source), "\(name) mounts \(source)")
            }
        }
    }

    @Test func `compose files declare all secrets, networks and services that they name`() throws {
        let document = try Self.composed("docker-compose.yml")
        let (services, secrets) = (try #require(document["services"]), try #require(document["secrets"]))
        let networks = try #require(document["networks"])
        for case (let name, let service as [String: Any]) in services {
            for secret in service["secrets"] as? [String] ?? [] { #expect(secrets[secret] != nil, "\(name): \(secret)") }
            let dependencies = (service["depends_on"] as? [String: Any]) ?? [:]
            for other in dependencies.keys { #expect(services[other] != nil, "\(name) depends on \(other)") }
            let joined =
                (service["networks"] as? [String]) ?? ((service["networks"] as? [String: Any]).map { Array($0.keys) } ?? [])
            #expect(!joined.isEmpty, "\(name)")
            for network in joined { #expect(networks[network] != nil, "\(name) joins \(network)") }
        }
        let makes = try Self.text("deploy/make-secrets").matches(of: /(?m)^keep (\w+)/).map { String($0.1) }
        // No script can make the addresses of receivers: the guide asks for them, and Compose starts no Alertmanager without.
        let receivers = try Self.text("deploy/prometheus/alertmanager.yml").matches(of: /url_file: \/run\/secrets\/(\w+)/)
            .map { String($0.1) }
        #expect(Set((services["alertmanager"] as? [String: Any])?["secrets"] as? [String] ?? []) == Set(receivers))
        let guide = try Self.text("docs/deploying.md")
        for address in receivers { #expect(guide.contains("secrets/\(address)"), "\(address)") }
        for secret in secrets.keys { #expect(makes.contains(secret) || receivers.contains(secret), "nobody makes \(secret)") }
    }

    @Test func `the Dockerfile copies only existing files`() throws {
        for line in try Self.text("Dockerfile").split(separator: "\n") where line.hasPrefix("COPY ") && !line.contains("--from") {
            for source in line.split(separator: " ").dropFirst().dropLast() where !source.contains("*") {
                #expect(Self.exists(String(source)), "\(line)")
            }
        }
    }

    @Test func `deployment files name only existing files`() throws {
        for file in try Self.files() {
            for path in try Self.text(file).matches(of: /\b((?:deploy|docs|scripts|Sources)\/[A-Za-z0-9_@\/.-]*[A-Za-z0-9])/).map(
                {
                    String($0.1)
                })
            {
                #expect(Self.exists(path), "\(file) names \(path)")
            }
        }
    }

    @Test func `nginx adds headers in one place, because a location with own headers inherits none`() throws {
        for file in try Self.files() where file.hasPrefix("deploy/nginx") {
            let lines = try Self.text(file).split(separator: "\n")
            for line in lines where line.contains("add_header ") && !line.hasPrefix("#") {
                #expect(
                    file == "deploy/nginx/server.conf" && line.hasPrefix("add_header ") && line.hasSuffix(" always;"),
                    "\(file): \(line)")
            }
        }
    }

    @Test func `Patroni promotes only replicas with all acknowledged writes`() throws {
        let document = try #require(try Yams.load(yaml: Self.text("deploy/patroni/patroni.yml")) as? [String: Any])
        let settings = try #require((document["bootstrap"] as? [String: Any])?["dcs"] as? [String: Any])
        #expect(settings["synchronous_mode"] as? Bool == true)
        let times = try ["ttl", "loop_wait", "retry_timeout"].map { try #require(settings[$0] as? Int) }
        #expect(times[1] + 2 * times[2] <= times[0])
    }
}
