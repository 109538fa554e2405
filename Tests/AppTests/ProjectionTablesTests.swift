import App
import EventStore
import Testing

@Suite struct `The tables of read models` {
    @Test func `a projection whose tables change has another version`() {
        let found = StoredModule.all.projections.map { projection in
            let type = type(of: projection)
            return (type.schema, Self.hash(of: type.tables))
        }
        let expected = [
            "accounts_v1": "7c76bf8a3ecf0c22",
            "attendances_v1": "1f7111af1988cef3",
            "events_v1": "849186f26ca98a4c",
            "passes_v1": "3a78011ece00c70c",
            "tasks_v1": "42874347e96fec8b",
            "users_v1": "93cc0761d80b2a6d",
        ]
        // Two versions stand beside each other during a deploy, so tables of one name must be equal.
        #expect(
            Dictionary(uniqueKeysWithValues: found) == expected,
            "raise the version of the projection, and write the hash of its new tables")
    }

    /// FNV-1a, 64 bits, in hexadecimal digits.
    private static func hash(of text: String) -> String {
        String(
            text.utf8.reduce(0xcbf2_9ce4_8422_2325) { (hash: UInt64, byte) in (hash ^ UInt64(byte)) &* 0x100_0000_01b3 },
            radix: 16)
    }
}
