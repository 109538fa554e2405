internal import App
internal import Foundation
internal import HTTP

/// `humon` with a further module. Its stored format differs between releases. TEST_RELEASE chooses the release: `old`, `reading` or
/// `writing`. Tests run several releases as processes on one database.
@main
enum TestRelease {
    static func main() async {
        let name = ProcessInfo.processInfo.environment["TEST_RELEASE"] ?? ""
        let soups: Module? =
            switch name {
            case "old": .soups(OldRelease.self)
            case "reading": .soups(ReadingRelease.self)
            case "writing": .soups(WritingRelease.self)
            case _: nil
            }
        guard let soups else { fatalError("TEST_RELEASE is \"\(name)\", not old, reading or writing") }
        await Module.$all.withValue(Module.all + [soups]) { await Program.main() }
    }
}
