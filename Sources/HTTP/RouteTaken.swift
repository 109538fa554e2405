internal import Synchronization

/// Which route answers a request, once that is known: shared by all copies of the request's context.
final class RouteTaken: Sendable {
    private let number = Atomic(-1)

    /// In ``API/routes``; nil before the router has found one.
    var index: Int? {
        let number = number.load(ordering: .relaxed)
        return number < 0 ? nil : number
    }

    func take(_ index: Int) { number.store(index, ordering: .relaxed) }
}
