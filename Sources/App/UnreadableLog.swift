/// The log holds a recorded event that this program cannot read, so that no read model can be made of it. Readers skip none.
struct UnreadableLog: Error, Hashable, CustomStringConvertible {
    /// With the position; names fields, never their values.
    var reason: String

    var description: String {
        """
        The log cannot be read: \(reason).
        Nothing was changed, and nothing is skipped: a read model without this event would be wrong.
        humon log verify lists all such positions; humon log show POSITION prints one.
        If a newer humon recorded it, start that version. If it came with humon log import, import a corrected archive into a new \
        database. Otherwise restore a backup from before it.
        """
    }
}
