import Foundation
import TestDatabase

/// What the rules know of the whole project: its targets and its read models.
struct Project: Sendable {
    /// A target of `Package.swift`, with its dependencies among the targets.
    struct Target: Sendable, Hashable {
        var name: String
        var dependencies: Set<String>
        /// Its folder, if the manifest names it.
        var path: String?

        /// Without a path, by the rule at the end of the manifest.
        var folder: String {
            path ?? ["Libraries/\(name)/Sources", "Tests/Support/\(name)"].first(where: SourceTree.has) ?? "Sources/\(name)"
        }
        /// Knows nothing of Humon: another product could use it.
        var isLibrary: Bool { folder.hasPrefix("Libraries/") }
        /// Neither an example, nor a benchmark, nor a part of the tests.
        var isProduct: Bool { isLibrary || folder.hasPrefix("Sources/") || folder == "HumonClient/Sources" }
    }

    /// A projection, and the module that owns it.
    struct ReadModel: Sendable, Hashable {
        var module: String
        var type: String
        var name: String
        var tables: Set<String>
    }

    var targets: [Target]
    var readModels: [ReadModel]

    /// The libraries and the parts of the product, by name. The rules hold for their sources.
    var sources: [String: Target] {
        Dictionary(uniqueKeysWithValues: targets.filter(\.isProduct).map { ($0.name, $0) })
    }

    /// The targets of `Package.swift` without its tests.
    static let targets: [Target] = {
        do { return try targets(in: Repository.text("Package.swift")) } catch {
            fatalError("the manifest cannot be read: \(error)")
        }
    }()

    /// This project. `Package.swift` is the one place that says which targets there are and what each may import.
    static let current: Project = {
        do {
            let files = try SourceTree.files(below: ["Sources"], ending: ".swift")
            return Project(
                targets: targets,
                readModels: try files.flatMap { readModels(in: try Repository.text($0), of: $0) })
        } catch { fatalError("the project cannot be read: \(error)") }
    }()

    /// Targets and products of a manifest, but not its tests.
    static func targets(in manifest: String) -> [Target] {
        manifest.matches(of: /\.(target|executableTarget|systemLibrary)\(\s*name: "(\w+)"/).map { match in
            let body = balanced(manifest[match.range.lowerBound...].drop { $0 != "(" })
            let products = /\.product\([^)]*\)/
            let list = body.replacing(products, with: "").firstMatch(of: /dependencies: \[([^\]]*)\]/)?.1 ?? ""
            return Target(
                name: String(match.2), dependencies: Set(list.matches(of: /"(\w+)"/).map { String($0.1) }),
                path: body.firstMatch(of: /\bpath: "([^"]*)"/).map { String($0.1) })
        }
    }

    /// The projections that a file declares.
    static func readModels(in text: String, of file: String) -> [ReadModel] {
        text.matches(of: /\bstruct (\w+): Projection\b/).compactMap { match in
            guard let name = text.firstMatch(of: /static let name = "(\w+)"/)?.1 else { return nil }
            let tables = text.matches(of: /CREATE TABLE \\\(schema\)\.(\w+)/).map { String($0.1) }
            return ReadModel(
                module: SourceTree.target(of: file), type: String(match.1), name: String(name), tables: Set(tables))
        }
    }

    /// From an opening parenthesis to the one that closes it.
    private static func balanced(_ text: Substring) -> Substring {
        var depth = 0
        for index in text.indices {
            if text[index] == "(" { depth += 1 } else if text[index] == ")" { depth -= 1 }
            if depth == 0 { return text[...index] }
        }
        return text
    }
}

extension Project {
    /// The targets that no target of the server may use, and that use none of them: apps take them alone.
    static let separate: Set = ["HumonClient"]

    /// The targets around the modules, each with its forbidden dependencies. Every other target of the product is a module.
    static let surroundings: [String: Set<String>] = [
        "HTTP": ["Postgres", "EmbeddedPostgres", "Web", "App", "humon"],
        "Web": ["HTTP", "Postgres", "EmbeddedPostgres", "App", "humon"],
        "App": ["humon"], "humon": [],
    ]

    /// The dependencies of the manifest that point the wrong way, each a sentence. SwiftPM refuses circles itself.
    static func wrongDependencies(_ targets: [Target]) -> [String] {
        let libraries = Set(targets.filter(\.isLibrary).map(\.name))
        // An example may import only products, like the program of a reader.
        let examples = targets.filter { $0.folder == "HumonClient/NearMe" }
        return (targets.filter(\.isProduct) + examples).flatMap { target in
            let forbidden: Set<String> =
                if separate.contains(target.name) {
                    target.dependencies
                } else if !target.isProduct {
                    target.dependencies.subtracting(separate)
                } else if target.isLibrary {
                    target.dependencies.subtracting(libraries)
                } else if let forbidden = surroundings[target.name] {
                    target.dependencies.intersection(forbidden.union(separate))
                } else {
                    target.dependencies.intersection(
                        surroundings.keys.union(separate).union(["HTTPServer", "EmbeddedPostgres"]))
                }
            return forbidden.sorted().map { "\(target.name) depends on \($0)" }
        }
    }
}

extension Dictionary<String, Set<String>>.Keys {
    fileprivate func union(_ others: Set<String>) -> Set<String> { Set(self).union(others) }
}
