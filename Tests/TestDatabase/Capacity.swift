/// Lets so many tests at once do what is heavy; the others wait. Without it hundreds of databases and servers would share two
/// cores, and time-outs would say more about the machine than about the code.
public actor Capacity {
    /// Databases of the shared PostgreSQL.
    public static let databases = Capacity(limit: 8)
    /// Servers and clusters in processes of their own.
    public static let processes = Capacity(limit: 3)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(limit: Int) { free = limit }

    public nonisolated func use<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        await take()
        do {
            let value = try await body()
            await give()
            return value
        } catch {
            await give()
            throw error
        }
    }

    private func take() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func give() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
