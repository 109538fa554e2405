public import NIOCore

/// An IP address without a port. IPv4 is kept in its IPv6 form (`::ffff:192.0.2.1`), so that a client has one address over both.
public struct NetworkAddress: Sendable, Hashable {
    let bits: UInt128

    private static let mappedIPv4: UInt128 = 0xFFFF << 32
    static let bitCount = UInt128.bitWidth

    init(bits: UInt128) { self.bits = bits }

    /// - Returns: `nil` for a Unix socket
    public init?(_ address: SocketAddress) {
        switch address {
        case .v4(let address): bits = Self.mappedIPv4 | UInt128(UInt32(bigEndian: Self.load(from: address.address, at: 4)))
        case .v6(let address): bits = UInt128(bigEndian: Self.load(from: address.address, at: 8))
        case .unixDomainSocket: return nil
        }
    }

    /// - Parameter offset: the offset of the address, after family, port and, in IPv6, flow
    private static func load<Bits: BitwiseCopyable>(from address: some Any, at offset: Int) -> Bits {
        unsafe withUnsafeBytes(of: address) { unsafe $0.loadUnaligned(fromByteOffset: offset, as: Bits.self) }
    }

    /// - Parameter text: `192.0.2.1` or `2001:db8::1`, without brackets, port or zone; `nil` for anything else
    public init?(_ text: some StringProtocol) {
        let characters = text.utf8
        // A NUL would end the text early for the C function that parses it, and a zone would be looked up among the interfaces.
        guard (2...45).contains(characters.count), characters.allSatisfy(\.isOfNetworkAddress),
            let address = try? SocketAddress(ipAddress: String(text), port: 0)
        else { return nil }
        self.init(address)
    }

    var isIPv4: Bool { bits >> 32 == 0xFFFF }

    /// Whether the address names this machine: `127.0.0.0/8` or `::1`.
    public var isLoopback: Bool { isIPv4 ? UInt8(truncatingIfNeeded: bits >> 24) == 127 : bits == 1 }

    /// The prefix that one household or machine has: the address in IPv4, the first 64 bits in IPv6.
    public var subscriber: NetworkAddress { isIPv4 ? self : NetworkAddress(bits: (bits >> 64) << 64) }
}

extension NetworkAddress: CustomStringConvertible {
    public var description: String {
        guard isIPv4 else {
            return (try? SocketAddress(packedIPAddress: ByteBuffer(bigEndian: bits), port: 0))?.ipAddress ?? ""
        }
        return stride(from: 24, through: 0, by: -8).map { String(UInt8(truncatingIfNeeded: bits >> $0)) }.joined(separator: ".")
    }
}

/// A network of addresses with one prefix: `10.0.0.0/8`, `2001:db8::/32`, or a single address.
struct Network: Sendable, Hashable {
    private let prefix: UInt128
    private let mask: UInt128

    /// - Returns: `nil` if the text is not a network, or has bits set after the prefix
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ NetworkAddress($0) }) else { return nil }
        let offset = address.isIPv4 && !parts[0].contains(":") ? 96 : 0
        var length = NetworkAddress.bitCount
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let sent = Int(parts[1]),
                sent <= NetworkAddress.bitCount - offset
            else { return nil }
            length = sent + offset
        }
        guard (offset...NetworkAddress.bitCount).contains(length) else { return nil }
        // A smart shift by all 128 bits gives 0.
        mask = ~(UInt128.max >> UInt128(length))
        prefix = address.bits
        guard prefix & mask == prefix else { return nil }
    }

    func contains(_ address: NetworkAddress) -> Bool { address.bits & mask == prefix }
}

extension ByteBuffer {
    fileprivate init(bigEndian bits: UInt128) {
        self.init()
        writeMultipleIntegers(UInt64(bits >> 64), UInt64(truncatingIfNeeded: bits))
    }
}

extension UInt8 {
    fileprivate var isOfNetworkAddress: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        case UInt8(ascii: ":"), UInt8(ascii: "."): true
        default: false
        }
    }
}
