extension SQLState {
    /// What happened and what helps, for the states that operators meet; `nil` for the others.
    var meaning: String? {
        switch rawValue {
        case "25006": "PostgreSQL is read-only, as a standby is; connect to the primary"
        case "40001", "40P01": "it conflicted with another transaction; the same request may succeed again"
        case "42501": "the role lacks the right for it; give the role this right, or use the role that has it"
        case "42P01", "3F000": "a table or schema is missing; apply the migrations, or look into another database"
        case "53100": "the disk of PostgreSQL is full; free space on it"
        case "53200": "PostgreSQL has no memory left; give its machine more, or lower its settings of memory"
        case "53300": "PostgreSQL has no connection left; open fewer, or raise max_connections"
        case "55P03": "a lock was not free in time; look for the session that holds it in pg_locks"
        case "57014":
            "it took longer than its time limit, or somebody cancelled it; look for locks and for load in pg_stat_activity"
        case "57P01", "57P02": "PostgreSQL shut down meanwhile; the next request connects again"
        case "57P03": "PostgreSQL starts or stops; try again later"
        case "58030": "PostgreSQL cannot read or write a file; look at its log and its disk"
        case "XX001", "XX002": "PostgreSQL found damaged data; look at its log, and restore from a backup"
        default: nil
        }
    }
}
