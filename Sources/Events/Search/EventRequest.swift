package import Encoding
package import SpatialIndex

/// A request for events that a search of the index answers.
package protocol EventRequest: Sendable {
    associatedtype Search: PointSearch
    associatedtype Found: Sendable

    /// - Throws: ``EventRejection/invalid(errors:)`` with all validation errors
    init(_ json: JSON) throws(EventRejection)

    func search(_ snapshot: EventIndex.Snapshot) -> Search

    func found(_ result: Search.Result) -> Found
}

extension NearestRequest: EventRequest {
    package func search(_ snapshot: EventIndex.Snapshot) -> NearestSearch { snapshot.search(self) }

    package func found(_ page: EventIndex.Page) -> RenderedEvents { RenderedEvents(page: page) }
}

extension BoxRequest: EventRequest {
    package func search(_ snapshot: EventIndex.Snapshot) -> BoxedSearch { snapshot.search(self) }

    package func found(_ page: EventIndex.Page) -> RenderedEvents { RenderedEvents(page: page) }
}

extension ClusterRequest: EventRequest {
    package func search(_ snapshot: EventIndex.Snapshot) -> EventClusterSearch { EventClusterSearch(self, snapshot) }

    package func found(_ clusters: [EventCluster]) -> [EventCluster] { clusters }
}
