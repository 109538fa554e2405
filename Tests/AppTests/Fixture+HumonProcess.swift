import Foundation
import TestDatabase
import TestFixture
import TestServer
import Testing

extension Trait where Self == Fixture<TestDatabase> {
    /// A migrated database: ``database``.
    static var database: Self { Self { try await TestDatabase.with($0) } }
    static var emptyDatabase: Self { Self { try await TestDatabase.with(migrated: false, $0) } }
}

extension Trait where Self == Fixture<URL> {
    /// A directory for processes: ``directory``. A database stands before it: `@Test(.database, .directory)`.
    static var directory: Self { Self { try await HumonProcess.withDirectory($0) } }
}

var database: TestDatabase { Fixture.current }
var directory: URL { Fixture.current }
/// The settings that name the database and the secret.
var environment: [String: String] { ["DATABASE_URL": database.url, "TB_APP_SECRET": HumonProcess.secret] }
