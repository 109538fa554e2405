import Postgres
import TestDatabase
import Testing

@Suite(.database) struct `The example of the PostgreSQL client` {
    @Test func `the shop moves tea from one jar to another, or changes neither`() async throws {
        try await TeaShop.with(database.url) { shop in
            try await shop.stock("mate", grams: 100)
            try await shop.stock("mate'); DROP TABLE teas; --", grams: 20)
            try await shop.stock("oolong", grams: 50)
            try await shop.move(grams: 30, from: "mate", to: "oolong")
            let error = await #expect(throws: PostgresError.self) {
                try await shop.move(grams: 200, from: "oolong", to: "mate")
            }
            #expect(error?.sqlState == SQLState(rawValue: "23514"))
            #expect(try await shop.teas(ofAtLeast: 50).map { "\($0.name) \($0.grams)" } == ["mate 70", "oolong 80"])
        }
    }
}
