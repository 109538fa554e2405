import Foundation
import TestDatabase

/// The project as files.
enum SourceTree {
    /// The files below a folder with this ending of their name, by their path from the root.
    static func files(below folder: String, ending: String) throws -> [String] {
        let base = Repository.root.appending(path: folder)
        let names = try FileManager.default.subpathsOfDirectory(atPath: base.path)
        return names.filter { $0.hasSuffix(ending) }.sorted().map { "\(folder)/\($0)" }
    }

    /// Whether a file or a folder of this path, from the root, exists.
    static func has(_ path: String) -> Bool { FileManager.default.fileExists(atPath: Repository.root.appending(path: path).path) }

    /// The target of a file below `Sources`.
    static func target(of file: String) -> String { String(file.split(separator: "/").dropFirst().first ?? "") }

    /// The modules that a source file imports, whatever their access level and attributes.
    static func imports(in text: String) -> [String] {
        text.split(separator: "\n").filter { $0.contains("import ") }.compactMap { line in
            line.wholeMatch(
                of:
                    /(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|private|fileprivate)\s+)?import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+).*/
            )
            .map { String($0.1) }
        }
    }
}
