extension Rule {
    static let throwing = Rule(name: "a public declaration that throws says what it throws") { _, text in
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var isInPublicBody = false
        return lines.indices.filter { index in
            let line = lines[index]
            // The members of a public protocol or extension are public without a modifier.
            if line.hasPrefix("public protocol ") || line.hasPrefix("public extension ") { isInPublicBody = true }
            if line.hasPrefix("}") { isInPublicBody = false }
            // Regular expressions are slow in a debug build.
            guard isInPublicBody || line.contains("public "),
                let start = line.prefixMatch(of: /\s*(?:@\w+\s+)*((?:[a-z]+\s+)*)(func|init|subscript|var)\b/)
            else { return false }
            let modifiers = start.1.split(separator: " ")
            let isMember = isInPublicBody && !modifiers.contains { ["package", "internal", "private"].contains($0) }
            guard isMember || modifiers.contains("public") else { return false }
            let signature = line[start.range.upperBound...] + "\n" + lines[(index + 1)...].prefix(20).joined(separator: "\n")
            return throwsErrors(signature, isFunction: ["func", "init"].contains(start.2)) && !saysWhatItThrows(lines[..<index])
        }.map { "line \($0 + 1) has no `- Throws:`" }
    }

    /// - Parameter signature: the source behind `func`, `init`, `subscript` or `var`
    private static func throwsErrors(_ signature: Substring, isFunction: Bool) -> Bool {
        guard isFunction else {
            return signature.drop { $0 != "{" }.prefixMatch(of: /\{\s*get\s+(?:async\s+)?throws\b/) != nil
        }
        // A parameter may be a closure that throws: only the word behind the parameters counts.
        var depth = 0
        let result = signature.drop { $0 != "(" }.drop { character in
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            return depth > 0
        }
        return result.prefixMatch(of: /\)\s*(?:async\s+)?throws\b/) != nil
    }

    /// - Parameter lines: those before the declaration
    private static func saysWhatItThrows(_ lines: ArraySlice<Substring>) -> Bool {
        let trimmed = lines.reversed().lazy.map { $0.drop(while: \.isWhitespace) }
        return trimmed.drop { $0.hasPrefix("@") }.prefix { $0.hasPrefix("///") }.contains { $0.hasPrefix("/// - Throws: ") }
    }
}
