internal import EmbeddedPostgres

extension Settings {
    /// The private cluster.
    var cluster: EmbeddedCluster.Configuration {
        var configuration = EmbeddedCluster.Configuration(directory: data, programs: postgresPrograms)
        configuration.superuser = "humon"
        return configuration
    }

    /// - Parameter page: says what to do for another database
    /// - Throws: ``CommandFailure`` if they name another database
    func requirePrivateDatabase(page: String = "docs/backup.md") throws(CommandFailure) {
        guard databaseURL == nil else {
            throw CommandFailure(
                "This command is for the private PostgreSQL, and not for \(databaseDescription): \(page) has the way for that one."
            )
        }
    }
}

extension CommandFailure {
    init(_ error: EmbeddedPostgresError) {
        var description = error.description(directory: "HUMON_DATA", programs: "HUMON_POSTGRES_BIN")
        if case .noPrograms(_?, _) = error { description += " Then humon cluster upgrade can make it one of a newer version." }
        self.init(description)
    }
}
