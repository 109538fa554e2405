internal import EventStore
internal import Synchronization

/// Caches the users of recent devices, in one generation of the log. Within a generation a device keeps its user.
final class TokenCache: Sendable {
    private struct Generations: Sendable {
        var log = LogGeneration()
        var young: [DeviceDigest: UserID] = [:]
        var old: [DeviceDigest: UserID] = [:]
    }

    /// The most entries of the young half. A full young half becomes the old half, and the old half is dropped.
    private let generationLimit: Int
    private let generations = Mutex(Generations())

    init(generationLimit: Int = 50_000) { self.generationLimit = generationLimit }

    /// - Parameter generation: the generation of the log, read before the lookup in the log
    subscript(device: DeviceDigest, in generation: LogGeneration) -> UserID? {
        get {
            generations.withLock { generations in
                guard isOf(generation, &generations) else { return nil }
                if let user = generations.young[device] { return user }
                guard let user = generations.old[device] else { return nil }
                insert(user, for: device, into: &generations)
                return user
            }
        }
        set {
            guard let newValue else { return }
            generations.withLock { generations in
                if isOf(generation, &generations) { insert(newValue, for: device, into: &generations) }
            }
        }
    }

    /// Empties the cache if it holds an earlier generation.
    /// - Returns: false if the cache holds a later generation
    private func isOf(_ generation: LogGeneration, _ generations: inout Generations) -> Bool {
        if generations.log < generation { generations = Generations(log: generation) }
        return generations.log == generation
    }

    private func insert(_ user: UserID, for device: DeviceDigest, into generations: inout Generations) {
        if generations.young.count >= generationLimit, generations.young[device] == nil {
            generations.old = generations.young
            generations.young = [:]
        }
        generations.young[device] = user
    }
}
