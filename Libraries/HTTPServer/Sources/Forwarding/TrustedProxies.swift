/// The trusted peers: the server believes their forwarding fields and request ids.
public struct TrustedProxies: Sendable {
    /// The default, `127.0.0.0/8,::1,unix`: a program on this machine could do worse than invent an address.
    public static let loopback = TrustedProxies(
        networks: ["127.0.0.0/8", "::1"].compactMap { Network($0) }, includesUnixSocket: true)

    private var networks: [Network]
    private var includesUnixSocket: Bool

    private init(networks: [Network], includesUnixSocket: Bool) {
        self.networks = networks
        self.includesUnixSocket = includesUnixSocket
    }

    /// - Parameter list: networks and addresses, and `unix` for peers on the Unix socket, separated by commas; or `none`
    /// - Returns: `nil` if one of them cannot be read
    public init?(_ list: String) {
        self.init(networks: [], includesUnixSocket: false)
        guard list != "none" else { return }
        for entry in list.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmingSpaces) {
            if entry == "unix" {
                includesUnixSocket = true
            } else if let network = Network(entry) {
                networks.append(network)
            } else {
                return nil
            }
        }
    }

    func contains(_ peer: Peer) -> Bool {
        switch peer {
        case .address(let address): contains(address)
        case .unixSocket: includesUnixSocket
        case .unknown: false
        }
    }

    func contains(_ address: NetworkAddress) -> Bool { networks.contains { $0.contains(address) } }
}
