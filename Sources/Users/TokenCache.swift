internal import Synchronization

/// Which user a device belongs to, for the devices seen lately. Never wrong, since a device never changes its user.
final class TokenCache: Sendable {
    private struct Generations: Sendable {
        var young: [DeviceDigest: UserID] = [:]
        var old: [DeviceDigest: UserID] = [:]
    }

    /// When the young generation is full it becomes the old one, and the old one goes: at most twice as many are kept.
    private let generationLimit: Int
    private let generations = Mutex(Generations())

    init(generationLimit: Int = 50_000) { self.generationLimit = generationLimit }

    subscript(device: DeviceDigest) -> UserID? {
        get {
            generations.withLock { generations in
                if let user = generations.young[device] { return user }
                guard let user = generations.old[device] else { return nil }
                insert(user, for: device, into: &generations)
                return user
            }
        }
        set {
            guard let newValue else { return }
            generations.withLock { insert(newValue, for: device, into: &$0) }
        }
    }

    private func insert(_ user: UserID, for device: DeviceDigest, into generations: inout Generations) {
        if generations.young.count >= generationLimit, generations.young[device] == nil {
            generations.old = generations.young
            generations.young = [:]
        }
        generations.young[device] = user
    }
}
