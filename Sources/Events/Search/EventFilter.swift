public import Encoding
internal import SpatialIndex

/// What an event of an area must have for a list to show it: a time that overlaps a window, with both ends, certain words, and a category.
///
/// An event without an end, or with one before its start, lasts ``EventPlace/openHours``.
public struct EventFilter: Sendable, Hashable {
    /// `nil` for no beginning.
    public var from: Timestamp?
    /// Not before `from`. `nil` for no end.
    public var to: Timestamp?
    /// Each word of the text begins a word of the event's name or address; `nil` for any event. As the client sent it.
    public private(set) var text: String?
    /// `nil` for events of any category, and of none.
    public var category: String?
    /// The folded words of the text.
    var beginnings: [UInt8] = []

    /// Keeps every event unless an end is given.
    public init(from: Timestamp? = nil, to: Timestamp? = nil) {
        self.from = from
        self.to = to
    }

    /// Keeps only events with these words.
    mutating func require(_ text: String) throws(FoldedWords.QueryError) {
        beginnings = try FoldedWords(query: text).utf8
        self.text = text
    }

    /// Words and category as the index searches for them; `nil` without both.
    var words: PointIndex.WordQuery? {
        beginnings.isEmpty && category == nil ? nil : PointIndex.WordQuery(beginnings: beginnings, category: category)
    }

    /// The window; `nil` without ends.
    var milliseconds: ClosedRange<Int64>? {
        guard from != nil || to != nil else { return nil }
        let first = from?.milliseconds ?? .min
        return first...max(first, to?.milliseconds ?? .max)
    }
}

extension EventDetails {
    /// The most bytes of words of one event, without the category: about 150 words. Some characters fold to 33 bytes, and a change copies
    /// the words of 64 events.
    private static let wordLimit = 1_024

    /// The words by which searches find the event: its name, its address and its category, as the index takes them.
    var words: [UInt8] {
        var words = FoldedWords(name.searched, (address ?? "").searched).utf8
        if words.count > Self.wordLimit {
            words.removeSubrange((words[...Self.wordLimit].lastIndex(of: UInt8(ascii: " ")) ?? 0)...)
        }
        return words + (texts[.category].map(EventIndex.word) ?? [])
    }
}

extension String {
    /// As much of the text as a client may send now. The log may have more, and to fold it takes a time that grows with the square of the
    /// marks on one letter.
    fileprivate var searched: String {
        utf8.count <= EventFields.textLimit ? self : String(unicodeScalars.prefix(EventFields.textLimit))
    }
}
