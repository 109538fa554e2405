import Testing

@testable import App
@testable import EventStore

@Suite struct `A command that could not be carried out now` {
    @Test func `is unavailable, which is answered 503, when its stream is contended or its read model is behind`() {
        #expect(Backend.isUnavailability(StreamContended(stream: StreamName("event-1"))))
        #expect(Backend.isUnavailability(ReadModelError.behind("events_v1")))
        #expect(!Backend.isUnavailability(VersionConflictError(stream: StreamName("event-1"), expected: 1, actual: 2)))
    }
}
