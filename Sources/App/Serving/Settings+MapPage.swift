internal import HTTP
internal import Web

extension Settings {
    /// The settings of the map page; `nil` if it is off or the map of events is left out.
    var mapPage: MapPage.Settings? {
        guard self.web == .on, self.apps.contains(.events) else { return nil }
        return MapPage.Settings(
            tiles: self.tiles, origins: self.webOrigins, sessionsPerMinute: self.sessionsPerMinute,
            allSessionsPerMinute: self.allSessionsPerMinute)
    }
}
