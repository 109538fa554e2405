import Testing
import Transparency

@Suite struct `The example of the trees` {
    @Test func `a reader checks a loan with the file and the key, and a changed loan does not pass`() throws {
        let scratch = try ScratchDirectory()
        let key = try SigningKey.random(name: "books.example/loans")
        let register = try Register(path: scratch.path + "/tree", key: key)
        try register.record(["Momo to Ann", "Emma to Bob"])
        try register.record(["Emil to Cid"])
        let file = try #require(try register.proof(of: 1))
        let verifierKey = key.verifierKey.description
        #expect(try Register.loan(provenBy: file, verifierKey: verifierKey) == "Emma to Bob")
        let changed = String(decoding: file, as: UTF8.self).replacing("RW1tYSB0byBCb2I=", with: "RW1tYSB0byBDaWQ=")
        #expect(throws: ProofError.self) { try Register.loan(provenBy: Array(changed.utf8), verifierKey: verifierKey) }
    }
}
