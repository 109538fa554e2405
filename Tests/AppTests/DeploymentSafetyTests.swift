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
}
