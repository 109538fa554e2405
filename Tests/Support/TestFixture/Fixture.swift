internal import Synchronization
public import Testing

/// Gives a test a value that lives as long as the test, such as a database of its own. As the trait of a suite it gives one to each of its
/// tests, and of a test with arguments each case has one.
public struct Fixture<Value: Sendable>: TestTrait, SuiteTrait, TestScoping {
    public typealias Body = @concurrent @Sendable (Value) async throws -> Void

    private let with: @concurrent @Sendable (Body) async throws -> Void

    /// - Parameter with: makes the value, passes it to the body once, and cleans up
    public init(_ with: @escaping @concurrent @Sendable (Body) async throws -> Void) { self.with = with }

    /// The value of the running test. The tasks of the test and of the value know it; a thread and a detached task do not, so bind it before.
    public static var current: Value {
        guard let value = Slot.all[ObjectIdentifier(Value.self)]?.value.withLock({ $0 }) as? Value else {
            fatalError("a test without a \(Value.self) uses one: give its trait to the test or to the suite")
        }
        return value
    }

    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // Set before the value is there, for the tasks that it starts.
        let slot = Slot()
        try await Slot.$all.withValue(Slot.all.merging([ObjectIdentifier(Value.self): slot]) { $1 }) {
            try await with { value in
                slot.value.withLock { $0 = value }
                try await function()
            }
        }
    }
}

/// Has the value of one test.
private final class Slot: Sendable {
    /// The slots of the running test, by the type of the value.
    @TaskLocal static var all: [ObjectIdentifier: Slot] = [:]

    let value = Mutex<(any Sendable)?>(nil)
}
