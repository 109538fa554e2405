import Foundation
import TestDatabase

/// The declarations and the uses of names in sources, by their words: which declared names nothing else mentions.
///
/// A function is known by its name and its first label, every other declaration by its name. Two declarations of one name hide each
/// other, so this finds most unused members, and names none that is in use.
struct MemberUse {
    struct Declaration: Hashable {
        var name: String
        /// The first label of a function; `_` for none, `nil` if calls may omit it, and of what is no function.
        var label: String?
        var file: String
    }

    private(set) var declarations: [Declaration] = []
    /// The labels that follow a name where it is used; "" where no label follows.
    private var labels: [String: Set<String>] = [:]

    /// Adds the declarations and the uses of a Swift file.
    mutating func add(_ text: String, file: String) {
        let words = Self.words(of: Array(text.utf8))
        for (index, word) in words.enumerated() {
            let isDeclared = index > 0 && word.isDeclared(after: words[index - 1].text)
            guard isDeclared else {
                labels[word.text, default: []].insert(word.label(isDeclared: false) ?? "")
                continue
            }
            let isFunction = words[index - 1].text == "func"
            declarations.append(Declaration(name: word.text, label: isFunction ? word.label(isDeclared: true) : nil, file: file))
        }
    }

    /// Adds the words in the code of a page as uses.
    mutating func addPage(_ text: String) {
        let code = text.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
        for (_, code) in code { for word in Self.words(of: Array(code.utf8)) { labels[word.text, default: []].insert("") } }
    }

    /// The declarations without a use, in the order of their files.
    func unused() -> [Declaration] {
        declarations.filter { declaration in
            guard let used = labels[declaration.name] else { return true }
            guard let label = declaration.label else { return false }
            // Without a label there may be a trailing closure, or the function itself is passed on.
            return !used.contains(label) && !used.contains("")
        }
    }

    private struct Word {
        private static let keywords: Set = [
            "func", "var", "let", "struct", "class", "enum", "actor", "protocol", "typealias", "associatedtype",
        ]

        var text: String
        var before: UInt8?
        /// The text behind the word, without an ending backquote and generic parameters.
        var rest: ArraySlice<UInt8>

        /// Whether the word is the name of a declaration that begins with the word before.
        func isDeclared(after word: String) -> Bool {
            guard before == UInt8(ascii: " ") || before == UInt8(ascii: "`") else { return false }
            if Self.keywords.contains(word) { return true }
            // `case tea:` is a pattern.
            return word == "case" && text.first?.isLetter == true && rest.first != UInt8(ascii: ":")
                && rest.first != UInt8(ascii: ".")
        }

        /// The label in a list of parameters or arguments behind the word, `_` for a list without one. `nil` if there is no list, it is
        /// empty, or its first value has a default.
        func label(isDeclared: Bool) -> String? {
            guard rest.first == UInt8(ascii: "(") else { return nil }
            let list = rest.dropFirst().drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
            guard list.first != UInt8(ascii: ")") else { return nil }
            let label = list.prefix(while: MemberUse.isWord)
            let next = list[label.endIndex...].first
            // `label name: Type`, `label: Type` and `label: value`; else an unlabelled value.
            guard !label.isEmpty, next == UInt8(ascii: ":") || isDeclared && next == UInt8(ascii: " ") else { return "_" }
            let parameter = list.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: ")") && $0 != UInt8(ascii: "\n") }
            return isDeclared && parameter.contains(UInt8(ascii: "=")) ? nil : String(decoding: label, as: UTF8.self)
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || byte >= 0x80
    }

    /// The words outside of comments.
    private static func words(of bytes: [UInt8]) -> [Word] {
        var (words, index): ([Word], Int) = ([], 0)
        while index < bytes.count {
            // A URL in a literal is no comment.
            if bytes[index...].starts(with: "//".utf8), index == 0 || bytes[index - 1] != UInt8(ascii: ":") {
                index = bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
                continue
            }
            guard isWord(bytes[index]) else {
                index += 1
                continue
            }
            let end = bytes[index...].firstIndex { !isWord($0) } ?? bytes.count
            var rest = bytes[end...]
            if rest.first == UInt8(ascii: "`") { rest = rest.dropFirst() }
            if rest.first == UInt8(ascii: "<") { rest = rest.drop { $0 != UInt8(ascii: "(") } }
            let before = index > 0 ? bytes[index - 1] : nil
            words.append(Word(text: String(decoding: bytes[index..<end], as: UTF8.self), before: before, rest: rest))
            index = end
        }
        return words
    }
}
