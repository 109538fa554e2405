public import Foundation

/// The files of this checkout.
public enum Repository {
    public static let root = URL(fileURLWithPath: #filePath).appending(path: "../../../..").standardizedFileURL

    /// - Parameter path: from the root
    /// - Throws: an error of Foundation if the file is missing or not UTF-8
    public static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
}
