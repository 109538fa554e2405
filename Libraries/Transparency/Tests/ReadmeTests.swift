import Testing

@testable import Transparency

@Suite struct `The example of the trees` {
    @Test func `a reader checks a loan with the file and the key, and a changed loan does not pass`() throws {
        var register = Register(key: try SigningKey.random(name: "books.example/loans"))
        for loan in ["Momo to Ann", "Emma to Bob"] { _ = register.record(loan) }
        let note = register.record("Emil to Cid")
        let file = try register.proof(of: 1, in: note)
        let verifierKey = register.key.verifierKey.description
        #expect(try Register.loan(provenBy: file, verifierKey: verifierKey) == "Emma to Bob")
        let changed = String(decoding: file, as: UTF8.self).replacing("RW1tYSB0byBCb2I=", with: "RW1tYSB0byBDaWQ=")
        #expect(throws: ProofError.self) { try Register.loan(provenBy: Array(changed.utf8), verifierKey: verifierKey) }
    }
}
