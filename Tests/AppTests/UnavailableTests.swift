import Testing

@testable import App
@testable import EventStore

@Suite struct `A command that is unavailable now` {
    @Test func `a contended stream and a read model that is behind count as unavailable`() {
        #expect(Backend.isUnavailability(StreamContended(stream: StreamName("event-1"))))
        #expect(Backend.isUnavailability(ReadModelError.behind("events_v1")))
        #expect(!Backend.isUnavailability(KeyReusedError()))
    }
}
