public import Encoding
public import SpatialIndex

/// A request for events that a search of the index answers.
public protocol EventRequest: Sendable {
    associatedtype Search: PointSearch
    associatedtype Found: Sendable

    /// - Throws: ``EventRejection/invalid(errors:)`` with all validation errors
    init(_ json: JSON) throws(EventRejection)

    func search(_ snapshot: EventIndex.Snapshot) -> Search

    func found(_ result: Search.Result) -> Found
}

extension NearestRequest: EventRequest {
    public func search(_ snapshot: EventIndex.Snapshot) -> NearestSearch { snapshot.search(self) }

    public func found(_ page: EventIndex.Page) -> RenderedEvents { RenderedEvents(page: page) }
}

extension BoxRequest: EventRequest {
    public func search(_ snapshot: EventIndex.Snapshot) -> BoxedSearch { snapshot.search(self) }

    public func found(_ page: EventIndex.Page) -> RenderedEvents { RenderedEvents(page: page) }
}

extension ClusterRequest: EventRequest {
    public func search(_ snapshot: EventIndex.Snapshot) -> EventClusterSearch { EventClusterSearch(self, snapshot) }

    public func found(_ clusters: [EventCluster]) -> [EventCluster] { clusters }
}
