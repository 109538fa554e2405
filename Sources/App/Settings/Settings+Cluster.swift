internal import EmbeddedPostgres

extension Settings {
    /// The private cluster.
    var cluster: EmbeddedCluster.Configuration {
        var configuration = EmbeddedCluster.Configuration(directory: data, programs: postgresPrograms)
        configuration.superuser = "humon"
        return configuration
    }

    /// - Throws: ``CommandFailure`` if they name another database
    func requirePrivateDatabase() throws(CommandFailure) {
        guard databaseURL == nil else {
            throw CommandFailure(
                "This command is for the private PostgreSQL, and not for \(databaseDescription): docs/backup.md has the way for that one."
            )
        }
    }
}

extension CommandFailure {
    init(_ error: EmbeddedPostgresError) {
        self.init(error.description(directory: "HUMON_DATA", programs: "HUMON_POSTGRES_BIN"))
    }
}
