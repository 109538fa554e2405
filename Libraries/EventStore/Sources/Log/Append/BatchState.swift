internal import Postgres

/// What becomes of a batch: a table of states and outcomes, without a database and a clock of its own.
///
/// A refusal of the log concerns some of the appends, and a lookup without the log's lock tells which. An append whose connection broke
/// may be recorded; its id makes it safe to send it again, until the database is back and knows.
struct BatchState: Sendable {
    /// Seconds after which no append is sent again that was refused, and seconds for which the writer looks for the result of a batch
    /// after its connection broke.
    static let resolveWithin = Duration.seconds(5)
    /// The number of refusals in a row without a reason that a lookup finds. One can happen: another writer fills the gap before a version.
    private static let unexplainedLimit = 3
    private static let unknown = PostgresError.connectionLost(mayHaveRun: true)

    enum Step: Sendable, Hashable {
        /// - Parameter isBehind: whether the read models must be brought along first, since another version of the program has appended
        case record([Int], isBehind: Bool)
        case lookUp([Int])
        /// A moment after a connection broke.
        case wait
    }

    fileprivate enum Entry: Sendable {
        case open
        case mayBeRecorded
        case answered(Result<AppendResult, any Error>)
    }

    private enum Phase: Sendable {
        /// - Parameter dependent: the appends that can be decided only after these
        case recording([Int], dependent: [Int])
        /// - Parameter refusal: why the log refused the last transaction; `nil` if it did not
        case lookingUp([Int], refusal: PostgresError?)
    }

    private let batch: [AppendRequest]
    private var entries: [Entry]
    private var phase = Phase.recording([], dependent: [])
    private var isWaiting = false
    private var isBehind = false
    private var unexplained = 0
    /// Maximum number of appends of one transaction.
    private(set) var limit: Int
    private let sendUntil: ContinuousClock.Instant
    private var waitUntil: ContinuousClock.Instant?

    init(_ batch: [AppendRequest], at now: ContinuousClock.Instant) {
        self.batch = batch
        entries = batch.map { _ in .open }
        limit = batch.count
        sendUntil = now + Self.resolveWithin
        recordNext()
    }

    /// `nil` once all appends are answered.
    var step: Step? {
        if entries.allSatisfy(\.isAnswered) { return nil }
        if isWaiting { return .wait }
        return switch phase {
        case .recording(let round, _): .record(round, isBehind: isBehind)
        case .lookingUp(let asked, _): .lookUp(asked)
        }
    }

    /// A result for each append, in order, once all are answered.
    var results: [Result<AppendResult, any Error>] {
        entries.compactMap { if case .answered(let result) = $0 { result } else { nil } }
    }

    /// The appends of transactions whose connection broke.
    var mayBeRecorded: Set<Int> { Set(entries.indices.filter { entries[$0].mayBeRecorded }) }

    // MARK: Outcomes

    /// The appends of the last step are recorded.
    mutating func recorded(_ results: [AppendResult], at now: ContinuousClock.Instant) {
        guard case .recording(let round, let dependent) = phase else { return }
        for (index, result) in zip(round, results) { entries[index] = .answered(.success(result)) }
        phase = .lookingUp(dependent, refusal: nil)
        goOn(at: now)
    }

    /// A lookup found these answers.
    mutating func found(_ answers: [Int: AppendResult], at now: ContinuousClock.Instant) {
        guard case .lookingUp(let asked, let refusal) = phase else { return }
        for (index, answer) in answers { entries[index] = .answered(.success(answer)) }
        unexplained = answers.isEmpty && refusal != nil ? unexplained + 1 : 0
        // A read model has unique keys, too.
        if let refusal, unexplained >= Self.unexplainedLimit {
            unexplained = 0
            refuse(asked, refusal)
        }
        phase = .lookingUp([], refusal: nil)
        goOn(at: now)
    }

    mutating func waited() { isWaiting = false }

    /// The last step failed.
    mutating func failed(_ error: any Error, at now: ContinuousClock.Instant) {
        if error is CancellationError { return answerAll(Self.unknown) }
        guard case .recording(let round, let dependent) = phase, let refusal = error as? PostgresError,
            let state = refusal.sqlState
        else {
            return fail(error, at: now)
        }
        switch state {
        case .readModelOutOfStep where !isBehind: isBehind = true
        case .uniqueViolation, .otherVersion, .conditionFails:
            phase = .lookingUp(round + dependent, refusal: refusal)
            goOn(at: now)
        default: fail(error, at: now)
        }
    }

    private mutating func fail(_ error: any Error, at now: ContinuousClock.Instant) {
        let failure = error as? PostgresError
        let mayHaveRun = failure?.mayHaveRun == true
        if mayHaveRun, case .recording(let round, _) = phase {
            for index in round where !entries[index].isAnswered { entries[index] = .mayBeRecorded }
        }
        // Only a refusal of PostgreSQL's tells what became of an append that may be recorded.
        let isRefusal = failure?.isUnavailability == false
        let end = waitUntil ?? now + Self.resolveWithin
        if mayHaveRun || !mayBeRecorded.isEmpty && !isRefusal, now < end {
            (waitUntil, isWaiting) = (end, true)
            return
        }
        let explained = Self.explained(error)
        // Only PostgreSQL reports an error of one append, such as a row that a read model refuses. Others, such as a refused lookup, or a
        // recorded event that this program cannot read, concern the whole batch.
        if isRefusal, let explained = explained as? PostgresError, case .recording(let round, _) = phase {
            refuse(round, explained)
            recordNext()
        } else {
            answerAll(explained)
        }
    }

    // MARK: Transitions

    /// An error of one append must not fail the others: several are tried one by one.
    private mutating func refuse(_ indices: [Int], _ error: PostgresError) {
        let failing = indices.filter { !entries[$0].isAnswered }
        if failing.count == 1 { answer(failing[0], error) } else { limit = 1 }
    }

    private mutating func recordNext() {
        let (round, dependent) = batch.divided(entries.indices.filter { !entries[$0].isAnswered }, limit: limit)
        phase = .recording(round, dependent: dependent)
    }

    /// Lets appends expire that were never sent without a result, and leaves a lookup that has nothing to ask.
    private mutating func goOn(at now: ContinuousClock.Instant) {
        if now >= sendUntil {
            for index in entries.indices where entries[index].isOpen { answer(index, EventLogError.expired) }
        }
        guard case .lookingUp(let asked, let refusal) = phase else { return }
        let left = asked.filter { !entries[$0].isAnswered }
        if left.isEmpty { recordNext() } else { phase = .lookingUp(left, refusal: refusal) }
    }

    private mutating func answerAll(_ error: any Error) {
        for index in entries.indices where !entries[index].isAnswered { answer(index, error) }
    }

    /// Nobody is told that an append failed that may be recorded.
    private mutating func answer(_ index: Int, _ error: any Error) {
        entries[index] = .answered(.failure(entries[index].mayBeRecorded ? Self.unknown : error))
    }

    /// The error that the callers get.
    private static func explained(_ error: any Error) -> any Error {
        switch error {
        case let error as PostgresError where error.sqlState == .readModelOutOfStep || error.sqlState == .undefinedTable:
            ReadModelError.missing
        case let error as PostgresError where error.sqlState == .lockNotAvailable: EventLogError.lockHeld
        case let error as FormatError: ReadModelError.unreadable(error)
        default: error
        }
    }
}

extension BatchState.Entry {
    fileprivate var isOpen: Bool { if case .open = self { true } else { false } }
    fileprivate var mayBeRecorded: Bool { if case .mayBeRecorded = self { true } else { false } }
    fileprivate var isAnswered: Bool { if case .answered = self { true } else { false } }
}

/// Raised by `log.append`.
extension SQLState {
    static let readModelOutOfStep = SQLState(rawValue: "HU001")
    static let otherVersion = SQLState(rawValue: "HU002")
    static let conditionFails = SQLState(rawValue: "HU003")
}
