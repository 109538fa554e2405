import App
import EventStore
import Testing

@Suite struct `The tables of read models` {
    @Test func `a projection whose tables change has another version`() {
        let found = Modules.registered.projections.map { projection in
            let type = type(of: projection)
            return (type.schema, Self.hash(of: type.tables(in: "s")))
        }
        let expected = [
            "accounts_v1": "98953bad5ce56f34",
            "attendances_v1": "84e6e6f13e529e39",
            "events_v1": "5e10520498b989af",
            "tasks_v1": "7171403b5ee344be",
            "users_v1": "c7be7118dc074f8e",
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
