import Encoding
import Testing

@testable import Events

@Suite struct `The mark of an event's content` {
    /// Nodes of different releases and machines must agree.
    @Test(
        arguments: [
            ("", 0), ("{}", 3_746_576_913), (#"{"id":12,"name":"Picnic"}"#, 3_567_756_534),
            (#"{"id":12,"name":"Picnid"}"#, 2_629_296_122),
        ] as [(String, UInt32)])
    func `the mark of a text never changes`(json: String, mark: UInt32) {
        #expect(Array(json.utf8).withRawSpan(EventVersion.mark) == mark)
    }
}
