extension String {
    /// Whether the text consists of white space only.
    public var isBlank: Bool {
        // Nearly every text begins with ASCII, which needs no lookup in Unicode's tables.
        if let first = utf8.first, (0x21...0x7E).contains(first) { return false }
        return unicodeScalars.allSatisfy(\.properties.isWhitespace)
    }
}
