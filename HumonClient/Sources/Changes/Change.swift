/// What happened in a region, in order.
public enum Change: Sendable, Hashable {
    /// All events of the region, which replace what the app shows. A sequence begins with a list, and has another one when the
    /// server cannot continue, for example after a long pause. A new iterator sends no ``resumed``, so a list also ends an interruption
    /// that an earlier iterator reported.
    case list([Event])
    /// The region shows this event from now on, or shows it with these values.
    case put(Event)
    /// The region shows this event no longer: it moved away, was cancelled or hidden. The app may not have had it.
    case gone(Event.ID)
    /// The connection is lost, and an attempt to connect again failed. The app keeps its events. The client goes on trying.
    case interrupted(HumonError)
    /// The connection is back. A list follows, or all changes since the interruption.
    case resumed
}
