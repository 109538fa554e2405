import Foundation
import TestDatabase
import Testing
import Yams

@Suite struct `The files of a deployment` {
    private static func composed(_ path: String) throws -> [String: [String: Any]] {
        let document = try #require(try Yams.load(yaml: Repository.text(path)) as? [String: Any])
        return document.compactMapValues { $0 as? [String: Any] }
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
        let makes = try Repository.text("deploy/make-secrets").matches(of: /(?m)^keep (\w+)/).map { String($0.1) }
        // No script can make the addresses of receivers: the guide asks for them, and Compose starts no Alertmanager without.
        let receivers = try Repository.text("deploy/prometheus/alertmanager.yml").matches(of: /url_file: \/run\/secrets\/(\w+)/)
            .map { String($0.1) }
        #expect(Set((services["alertmanager"] as? [String: Any])?["secrets"] as? [String] ?? []) == Set(receivers))
        let guide = try Repository.text("docs/deploying.md")
        for address in receivers { #expect(guide.contains("secrets/\(address)"), "\(address)") }
        for secret in secrets.keys { #expect(makes.contains(secret) || receivers.contains(secret), "nobody makes \(secret)") }
    }

    @Test func `Patroni promotes only replicas with all acknowledged writes`() throws {
        let document = try #require(try Yams.load(yaml: Repository.text("deploy/patroni/patroni.yml")) as? [String: Any])
        let settings = try #require((document["bootstrap"] as? [String: Any])?["dcs"] as? [String: Any])
        #expect(settings["synchronous_mode"] as? Bool == true)
        let times = try ["ttl", "loop_wait", "retry_timeout"].map { try #require(settings[$0] as? Int) }
        #expect(times[1] + 2 * times[2] <= times[0])
    }
}
