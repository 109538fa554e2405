/// The log holds a recorded event that this program cannot read. It builds no read model from such a log, because readers skip no event.
struct UnreadableLog: Error, Hashable, CustomStringConvertible {
    /// Contains the position and the names of fields, never their values.
    var reason: String

    var description: String {
        """
        The log cannot be read: \(reason).
        Nothing was changed. humon skips no event: a read model without this event would be wrong.
        humon log verify lists all such positions; humon log show POSITION prints one.
        If a newer humon recorded it, start that version. If it came with humon log import, import a corrected archive into a new \
        database. Otherwise restore a backup from before it.
        """
    }
}
