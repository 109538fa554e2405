import Foundation
import Testing

@testable import HTTPServer

@Suite struct `Writing an HTTP date` {
    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"),
    ])
    func `a date is written as RFC 9110 requires`(second: Int, text: String) { #expect(HTTPDate.text(of: second) == text) }

    @Test func `the current date is between the clock's values before and after`() {
        let (before, date, after) = (Int(Date.now.timeIntervalSince1970), HTTPDate.now, Int(Date.now.timeIntervalSince1970))
        #expect((before...after).map(HTTPDate.text).contains(date))
    }
}
