import Testing

@Suite struct `The example of the hashes` {
    @Test func `a member is admitted with the password of the membership and with no other`() throws {
        let membership = try Membership(password: "correct horse")
        #expect(try membership.admits("correct horse"))
        #expect(try !membership.admits("correct horse "))
    }
}
