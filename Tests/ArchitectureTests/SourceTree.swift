import Foundation
import TestDatabase

/// The project as files.
enum SourceTree {
    /// The folders of the libraries' sources and of the product.
    static let sources = Set(Project.targets.filter(\.isProduct).map(\.folder)).sorted()

    /// The files below folders with this ending of their name, by their path from the root.
    static func files(below folders: [String], ending: String) throws -> [String] {
        try folders.flatMap { folder in
            let names = try FileManager.default.subpathsOfDirectory(atPath: Repository.root.appending(path: folder).path)
            return names.filter { $0.hasSuffix(ending) }.sorted().map { "\(folder)/\($0)" }
        }
    }

    /// Whether a file or a folder of this path, from the root, exists.
    static func has(_ path: String) -> Bool { FileManager.default.fileExists(atPath: Repository.root.appending(path: path).path) }

    /// The target of a source file.
    static func target(of file: String) -> String {
        let parts = file.split(separator: "/")
        return String(file.hasPrefix("HumonClient/") ? parts[0] : parts.dropFirst().first ?? "")
    }

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
