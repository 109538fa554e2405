internal import Web

extension Settings {
    /// The settings of the map page; `nil` if it is off.
    var mapPage: MapPage.Settings? {
        switch self.web {
        case .off: nil
        case .on:
            MapPage.Settings(
                tiles: self.tiles, origins: self.webOrigins, sessionsPerMinute: self.sessionsPerMinute,
                allSessionsPerMinute: self.allSessionsPerMinute)
        }
    }
}
