/// Checks whether the service can start with the settings.
enum SettingsCheck {
    /// - Returns: the settings for the other checks, or `nil` if they cannot be read
    static func look(_ database: DatabaseOptions) -> (Settings?, DoctorLine) {
        do {
            let settings = try Settings.load(database: database.url, refusesUnknown: false)
            do { _ = try database.settings() } catch { return (settings, bad(error)) }
            return (settings, check(settings))
        } catch {
            return (nil, bad(error))
        }
    }

    static func check(_ settings: Settings) -> DoctorLine {
        guard settings.databaseURL == nil || settings.appSecret != nil else { return bad(SettingsError.missingSecret) }
        do { try settings.refuseOpenAdminAddress() } catch { return bad(error) }
        let secret = settings.appSecret == nil ? "TB_APP_SECRET will be made by humon serve" : "TB_APP_SECRET is set"
        return DoctorLine("settings", .ok, "all can be read; \(secret)")
    }

    private static func bad(_ error: any Error) -> DoctorLine {
        DoctorLine("settings", .bad, "\(error)", hint: "Set it in the environment or in .env; humon settings lists the settings.")
    }
}
