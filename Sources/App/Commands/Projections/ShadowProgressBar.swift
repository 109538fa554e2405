internal import EventStore
internal import Synchronization

/// Shows the progress of a rebuild or a verification on standard error.
final class ShadowProgressBar: Sendable {
    private struct State: Sendable {
        var bar: ProgressBar?
        var phase: ShadowProgress.Phase?
    }

    private let state = Mutex(State())
    private let output: Output

    init(_ output: Output) { self.output = output }

    func show(_ progress: ShadowProgress) {
        state.withLock { state in
            let isNew = state.phase != progress.phase
            state.phase = progress.phase
            switch progress.phase {
            case .loading:
                if state.bar == nil { state.bar = ProgressBar(from: progress.position, total: progress.tail) }
                state.bar?.show(progress.position)
            case .makingIndexes, .comparing:
                guard isNew else { return }
                state.bar?.stop()
                output.step(progress.phase == .comparing ? "Comparing." : "Making the indexes.")
            }
        }
    }
}
