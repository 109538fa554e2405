/// From whom it is believed on whose behalf a request was sent, over which scheme, and what the request is called.
public struct TrustedProxies: Sendable {
    /// `127.0.0.0/8,::1,unix`. Who runs programs here could do worse than to make up an address.
    public static let onThisMachine = TrustedProxies(
        networks: ["127.0.0.0/8", "::1"].compactMap { Network($0) }, includesUnixSocket: true)

    private var networks: [Network]
    private var includesUnixSocket: Bool

    private init(networks: [Network], includesUnixSocket: Bool) {
        self.networks = networks
        self.includesUnixSocket = includesUnixSocket
    }

    /// - Parameter list: networks and addresses, and `unix` for whoever reaches the Unix socket, between commas; or `none`
    /// - Returns: nil where one of them is none
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
