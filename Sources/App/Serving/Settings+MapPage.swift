internal import HTTP
internal import Users
internal import Web

extension Settings {
    /// The map page; `nil` if it is off.
    func mapPage(users: UsersModule, limits: SharedLimits) -> MapPage? {
        switch self.web {
        case .off: nil
        case .on:
            MapPage(
                MapPage.Settings(
                    tiles: self.tiles, origins: self.webOrigins, sessionsPerMinute: self.sessionsPerMinute,
                    allSessionsPerMinute: self.allSessionsPerMinute),
                users: users, tokenHeaders: API.tokenHeaders, unknownTokens: limits.unknownTokens,
                dailySignUps: limits.dailySignUps)
        }
    }
}
