import Foundation

@testable import Transparency

/// A directory for one test, which goes with the value.
final class ScratchDirectory {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "tree-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func open() throws -> TileDirectory { try TileDirectory(path: path + "/tree") }

    func file(_ name: String) -> String { "\(path)/tree/\(name)" }

    /// The paths of all files of the tree.
    func files() throws -> Set<String> {
        var isDirectory: ObjCBool = false
        return Set(
            try FileManager.default.subpathsOfDirectory(atPath: path + "/tree").filter {
                unsafe FileManager.default.fileExists(atPath: file($0), isDirectory: &isDirectory) && !isDirectory.boolValue
            })
    }
}

/// The numbers of a range as entries.
func entries(_ range: Range<Int>) -> [[UInt8]] { range.map { Array(String($0).utf8) } }
