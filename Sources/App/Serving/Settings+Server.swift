internal import HTTP
internal import HTTPServer
internal import Logging
internal import Web

extension Settings {
    /// - Parameter secret: the app's secret, which may have been generated
    func api(secret: String) -> API.Settings {
        var api = API.Settings(appSecret: SharedSecret(secret, previous: previousAppSecret))
        api.reads = reads
        // Devices alone may read: then events have no pages.
        if reads == .everyone { api.pageOrigin = mapPage?.origins.canonical }
        (api.signUpsPerMinute, api.signUpsPerDay) = (signUpsPerMinute, signUpsPerDay)
        (api.signInsPerMinute, api.accountSignInsPerMinute) = (signInsPerMinute, accountSignInsPerMinute)
        (api.writesPerMinute, api.addressWritesPerMinute) = (writesPerMinute, addressWritesPerMinute)
        return api
    }

    /// The configuration of the server for clients. Neither one client address nor all streams may take all connections.
    func serverConfiguration(connections: Int, drain: Drain) -> ServerConfiguration {
        var configuration = ServerConfiguration(host: host, port: port)
        configuration.limits.idleSeconds = FixedLimits.idleSeconds
        configuration.limits.arrivalSeconds = FixedLimits.arrivalSeconds
        configuration.limits.responseSeconds = statementTimeoutSeconds + FixedLimits.answerSeconds
        configuration.limits.headerBytes = FixedLimits.headerBytes
        configuration.limits.bodyBytes = API.bodyLimitBytes
        configuration.maximumConnections = connections
        let quarter = max(1, connections / 4)
        // 0 stays no limit: all connections may come from one address that is no trusted proxy.
        configuration.maximumConnectionsPerAddress = min(connectionsPerAddress, quarter)
        configuration.trustedProxies = trustedProxies
        configuration.inFlight = InFlightRequests(waitingLimit: requests)
        configuration.budget = BufferBudget(limitBytes: FixedLimits.bufferMegabytes * 1_000_000)
        configuration.streams = OpenStreams(
            StreamLimits(
                total: min(streams, max(1, connections - quarter)), perAddress: min(streamsPerAddress, quarter),
                perUser: FixedLimits.streamsPerUser, openingsPerMinute: FixedLimits.streamOpeningsPerMinute))
        configuration.drain = drain
        return configuration
    }

    /// Maximum number of seconds for a response to an operator. The comparison of an index with 10 million events takes
    /// more than 30.
    private static let operatorResponseSeconds = 600

    /// The configuration of the server for operators and their tools.
    func operatorServerConfiguration() -> ServerConfiguration {
        var configuration = ServerConfiguration(host: adminHost, port: adminPort)
        configuration.limits.idleSeconds = FixedLimits.idleSeconds
        configuration.limits.responseSeconds = Self.operatorResponseSeconds
        configuration.maximumConnections = FixedLimits.operatorConnections
        return configuration
    }
}

extension Settings {
    /// The settings of the map page; `nil` if it is off or the map of events is left out.
    var mapPage: MapPage.Settings? {
        guard let webOrigins, apps.contains(.events) else { return nil }
        var page = MapPage.Settings()
        (page.tiles, page.origins) = (tiles, webOrigins)
        (page.sessionsPerMinute, page.allSessionsPerMinute) = (sessionsPerMinute, FixedLimits.sessionsOfNodePerMinute)
        return page
    }
}
