/// The trusted peers: the server believes their forwarding fields and request ids.
public struct TrustedProxies: Sendable {
    /// The default, `127.0.0.0/8,::1`: a program on this machine could do worse than invent an address.
    public static let loopback = TrustedProxies(networks: ["127.0.0.0/8", "::1"].compactMap { Network($0) })

    private var networks: [Network]

    private init(networks: [Network]) { self.networks = networks }

    /// - Parameter list: networks and addresses, separated by commas; or `none`
    /// - Returns: `nil` if one of them cannot be read
    public init?(_ list: String) {
        self.init(networks: [])
        guard list != "none" else { return }
        for entry in list.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmingSpaces) {
            guard let network = Network(entry) else { return nil }
            networks.append(network)
        }
    }

    func contains(_ address: NetworkAddress) -> Bool { networks.contains { $0.contains(address) } }
}
