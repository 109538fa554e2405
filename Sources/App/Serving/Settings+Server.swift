internal import HTTP
internal import HTTPServer
internal import Logging
internal import Transparency
internal import Web

extension Settings {
    /// - Parameter secret: the app's secret, which may have been generated
    func api(secret: String) -> API.Settings {
        API.Settings(
            appSecret: AppSecret(secret, previous: self.previousAppSecret), reads: self.reads,
            bodyLimitBytes: self.bodyLimitBytes, targetLimitBytes: self.targetLimitBytes,
            signUpsPerMinute: self.signUpsPerMinute, signUpsPerDay: self.signUpsPerDay,
            signInsPerMinute: self.signInsPerMinute, accountSignInsPerMinute: self.accountSignInsPerMinute,
            writesPerMinute: self.writesPerMinute, addressWritesPerMinute: self.addressWritesPerMinute)
    }

    /// The configuration of the server for clients.
    func serverConfiguration(drain: Drain) -> ServerConfiguration {
        var configuration = ServerConfiguration(host: self.host, port: self.port)
        configuration.limits = ConnectionLimits(
            idleSeconds: self.idleTimeoutSeconds, arrivalSeconds: self.arrivalTimeoutSeconds,
            responseSeconds: self.answerTimeoutSeconds,
            headerBytes: self.headerLimitBytes, bodyBytes: self.bodyLimitBytes)
        configuration.maximumConnections = self.connections
        configuration.maximumConnectionsPerAddress = self.connectionsPerAddress
        configuration.trustedProxies = self.trustedProxies
        configuration.inFlight = InFlightRequests(waitingLimit: self.requests)
        configuration.budget = BufferBudget(limitBytes: self.bufferMegabytes * 1_000_000)
        configuration.streams = OpenStreams(
            StreamLimits(
                total: self.streams, perAddress: self.streamsPerAddress, perUser: self.streamsPerUser,
                openingsPerMinute: self.streamOpeningsPerMinute))
        configuration.drain = drain
        return configuration
    }

    /// Warns if streams of changes can take every connection, so that no other request is served.
    func warnOfStreams(logger: Logger) {
        guard self.streams >= self.connections else { return }
        logger.warning(
            "HUMON_STREAMS leaves no connection for other requests: set HUMON_CONNECTIONS higher",
            metadata: ["streams": .stringConvertible(self.streams), "connections": .stringConvertible(self.connections)])
    }

    /// Maximum number of seconds for a response to an operator. The comparison of an index with 10 million events takes
    /// more than 30.
    private static let operatorResponseSeconds = 600

    /// The configuration of the server for operators and their tools.
    func operatorServerConfiguration() -> ServerConfiguration {
        var configuration = ServerConfiguration(host: self.adminHost, port: self.adminPort)
        configuration.limits.idleSeconds = self.idleTimeoutSeconds
        configuration.limits.responseSeconds = Self.operatorResponseSeconds
        return configuration
    }
}

extension Settings {
    /// The key of the Merkle tree over the log; `nil` if there is none.
    /// - Throws: ``SettingsError``
    func treeSigningKey() throws(SettingsError) -> SigningKey? {
        guard let path = self.treeKey else { return nil }
        guard let name = self.treeName else { throw .unusable(name: "HUMON_TREE_NAME", format: "set beside HUMON_TREE_KEY") }
        do {
            // Not standard input.
            let pem = try InputFile.read(path == "-" ? "./-" : path, limit: SigningKey.maximumPEMBytes)
            return try SigningKey(name: name, pem: String(decoding: pem, as: UTF8.self))
        } catch {
            throw .unreadable(fileName: "HUMON_TREE_KEY", reason: "cannot be used: \(error)")
        }
    }
}

extension Settings {
    /// The settings of the map page; `nil` if it is off or the map of events is left out.
    var mapPage: MapPage.Settings? {
        guard self.web == .on, self.apps.contains(.events) else { return nil }
        return MapPage.Settings(
            tiles: self.tiles, origins: self.webOrigins, sessionsPerMinute: self.sessionsPerMinute,
            allSessionsPerMinute: self.allSessionsPerMinute)
    }
}
