import HTTPTypes
import NIOCore
import TestChance
import Testing

@testable import HTTPServer

@Suite struct `Finding the sender of a request` {
    private static func connection(
        from peer: String, believing proxies: String = "10.0.0.0/8,2001:db8::/32"
    ) throws -> ConnectionInfo {
        ConnectionInfo(
            try #require(NetworkAddress(peer) as NetworkAddress?), .http, trusting: try #require(TrustedProxies(proxies)))
    }

    private static func client(_ headers: HTTPFields, from peer: String) throws -> Sender {
        try connection(from: peer).sender(headers)
    }

    private static func fields(_ pairs: KeyValuePairs<String, String>) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in pairs { HTTPField.Name(name).map { fields[values: $0].append(value) } }
        return fields
    }

    @Test(arguments: [
        ("192.0.2.9", "198.51.100.1", "192.0.2.9"),
        ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "198.51.100.1, 10.0.0.2", "198.51.100.1"),
        ("10.0.0.1", "1.1.1.1,198.51.100.1, 10.0.0.2,10.3.4.5", "198.51.100.1"),
        ("10.0.0.1", "1.1.1.1, 203.0.113.7, 198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "10.0.0.9, 10.0.0.8", "10.0.0.9"),
        ("10.0.0.1", "198.51.100.1:443", "198.51.100.1"),
        ("10.0.0.1", "[2001:db9::7]:443, 2001:db8::1", "2001:db9::7"),
        ("10.0.0.1", "2001:db9::7", "2001:db9::7"),
        ("2001:db8::1", "198.51.100.1", "198.51.100.1"),
        ("::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "198.51.100.1, unknown", "10.0.0.1"), ("10.0.0.1", "198.51.100.1,,10.0.0.2", "10.0.0.2"),
        ("10.0.0.1", "198.51.100.1, nonsense, 10.0.0.3", "10.0.0.3"),
        ("10.0.0.1", "", "10.0.0.1"), ("10.0.0.1", ",,,", "10.0.0.1"), ("10.0.0.1", "300.1.1.1", "10.0.0.1"),
    ])
    func `the sender is the last address that is not a trusted proxy's`(peer: String, header: String, address: String) throws {
        let headers = Self.fields(["x-forwarded-for": header])
        #expect(try Self.client(headers, from: peer).address?.description == address)
    }

    @Test func `the last 64 addresses of a list are read`() throws {
        func address(_ proxies: Int) throws -> String? {
            let list = "198.51.100.1" + String(repeating: ", 10.0.0.2", count: proxies)
            return try Self.client(Self.fields(["x-forwarded-for": list]), from: "10.0.0.1").address?.description
        }
        #expect(try address(63) == "198.51.100.1")
        #expect(try address(64) == "10.0.0.2")
    }

    @Test(arguments: [
        ("127.0.0.1", "", true), ("127.9.9.9", "", true), ("::1", "", true), ("::ffff:127.0.0.1", "", true),
        ("192.0.2.9", "", false), ("::2", "", false),
        // A proxy on this machine, for a client on this machine and for others.
        ("127.0.0.1", "127.0.0.1", true),
        ("127.0.0.1", "198.51.100.1", false), ("127.0.0.1", "127.0.0.1, 198.51.100.1", false),
        ("127.0.0.1", "198.51.100.1, 127.0.0.1", false), ("127.0.0.1", "unknown", false),
        // A proxy on another machine.
        ("10.0.0.1", "127.0.0.1", false),
    ])
    func `a client is on this machine if every address on the way is loopback`(
        peer: String, forwarded: String, isHere: Bool
    ) throws {
        let headers: HTTPFields = forwarded.isEmpty ? [:] : [.xForwardedFor: forwarded]
        for proxies in ["127.0.0.0/8,10.0.0.0/8", "none"] {
            let connection = try Self.connection(from: peer, believing: proxies)
            #expect(connection.isFromThisMachine(headers) == isHere, "\(proxies)")
        }
        let proto = try Self.connection(from: peer).isFromThisMachine([.xForwardedProto: "https"])
        #expect(!proto, "a proxy that does not name its client")
    }

    @Test func `several X-Forwarded-For fields are read as one list`() throws {
        let headers = Self.fields(["x-forwarded-for": "1.1.1.1", "X-Forwarded-For": "198.51.100.1, 10.0.0.2"])
        #expect(try Self.client(headers, from: "10.0.0.1").address?.description == "198.51.100.1")
    }

    @Test(arguments: [
        ("https", Scheme.https), ("http, https, http", .https), ("HTTPS", .https), ("ftp", .http), ("", .http),
    ])
    func `X-Forwarded-Proto of a trusted proxy sets the scheme`(header: String, scheme: Scheme) throws {
        let headers = Self.fields(["x-forwarded-for": "1.1.1.1, 198.51.100.1, 10.0.0.2", "x-forwarded-proto": header])
        #expect(try Self.client(headers, from: "10.0.0.1").scheme == scheme)
        #expect(try Self.client(headers, from: "192.0.2.1").scheme == .http)
    }

    @Test(arguments: [("10.1.2.3", true), ("11.0.0.1", false), ("2001:db8:ffff::1", true), ("2001:db9::", false)])
    func `only a peer on the list is a trusted proxy`(peer: String, isTrustedProxy: Bool) throws {
        #expect(try Self.connection(from: peer).isTrustedProxy == isTrustedProxy)
        #expect(try !Self.connection(from: peer, believing: "none").isTrustedProxy)
    }

    @Test func `the loopback addresses are trusted by default`() throws {
        for address in ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"] {
            #expect(TrustedProxies.loopback.contains(try #require(NetworkAddress(address))))
        }
        #expect(!ConnectionInfo().isTrustedProxy)
        #expect(!TrustedProxies.loopback.contains(try #require(NetworkAddress("10.0.0.1"))))
    }

    @Test(arguments: [
        "", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/-1", "10.0.0/8", "2001:db8::/129", "unix", "10.0.0.1,", "all", "::1%lo",
        "fe80::1%2", "::/0x1", "10.0.0.0/9223372036854775807", "::/9223372036854775807",
        "10.0.0.0/99999999999999999999",
    ])
    func `an unreadable list of proxies is refused`(list: String) { #expect(TrustedProxies(list) == nil) }

    @Test(arguments: [
        ("0.0.0.0/0", "255.255.255.255", true), ("0.0.0.0/0", "2001:db8::1", false), ("::/0", "10.0.0.1", true),
        ("192.0.2.128/25", "192.0.2.127", false), ("192.0.2.128/25", "192.0.2.128", true), ("192.0.2.1", "192.0.2.1", true),
        ("192.0.2.1/32", "192.0.2.2", false), ("::1/128", "::1", true), ("::ffff:10.0.0.0/104", "10.9.9.9", true),
    ])
    func `a network contains the addresses with its prefix`(network: String, address: String, isInside: Bool) throws {
        #expect(try #require(Network(network)).contains(#require(NetworkAddress(address))) == isInside)
    }

    @Test(arguments: [
        "", "1", "1.2.3", "1.2.3.4\u{0}", "1.2.3.4 ", "01.2.3.4x", "::1%lo", "::1%1", "2001:db8::1%7", "::ffff:10.0.0.1%1",
        "[::1]", "1.2.3.4:5", ":::", "é.1.1.1",
    ])
    func `a text that is not an address is refused`(text: String) { #expect(NetworkAddress(text) == nil) }

    @Test func `IPv6 addresses of one /64 network count as one subscriber`() throws {
        func subscriber(_ text: String) throws -> String { try #require(NetworkAddress(text)).subscriber.description }
        #expect(try subscriber("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::")
        #expect(try subscriber("192.0.2.7") == "192.0.2.7")
    }

    /// No header makes the server fail, or makes it believe an address that no proxy wrote.
    @Test(arguments: 0..<8) func `faulty forwarding fields give an address of a proxy's entry or the peer`(part: Int) throws {
        var generator = SeededGenerator(seed: 19, part)
        let pieces = [
            "10.0.0.1", "198.51.100.1", "[2001:db8::1]", "2001:db9::9", "for=", "proto=https", ",", ";", "\"", "\\", "=", " ",
            ":", "[",
            "]", "%", "::", "é", "\t", "unknown", "443", ".", "/", "_x",
        ]
        let connection = try Self.connection(from: "10.0.0.1", believing: "10.0.0.0/8,2001:db8::/32")
        for _ in 0..<300 {
            func text() -> String {
                (0..<Int.random(in: 0...14, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }
                    .joined()
            }
            let (sent, truth) = (text(), "203.0.113.\(Int.random(in: 1...254, using: &generator))")
            let forwardedFor = Self.fields(["x-forwarded-for": sent])
            let client = connection.sender(forwardedFor)
            // The address is one whole entry, or the peer's.
            let entries = sent.split(separator: ",", omittingEmptySubsequences: false)
            let isOfEntry = entries.contains { $0.contains(client.address?.description ?? "-") }
            #expect(isOfEntry || client.address?.description == "10.0.0.1", "\(sent)")
            // The entry that the trusted proxy appends counts, whatever precedes it.
            let added = connection.sender(Self.fields(["x-forwarded-for": sent + "," + truth]))
            #expect(added.address?.description == truth, "\(sent)")
        }
    }
}
