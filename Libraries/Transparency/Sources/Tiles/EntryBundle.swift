internal import Encoding

/// Entries behind each other, each behind its length in two bytes, the higher one first (C2SP `tlog-tiles`, log entries).
public enum EntryBundle {
    /// The most bytes of an entry, because of the two bytes of its length.
    public static let maximumEntryBytes = 65_535

    /// - Precondition: the entry has at most ``maximumEntryBytes``
    static func append(_ entry: [UInt8], to bundle: inout [UInt8]) {
        bundle.append(UInt8(entry.count >> 8))
        bundle.append(UInt8(entry.count & 0xFF))
        bundle.append(contentsOf: entry)
    }

    /// Finds the first entries of a bundle.
    /// - Returns: the range of each entry; `nil` if there are fewer, or if the bytes end in the middle of one
    public static func ranges(in bundle: [UInt8], count: Int) -> [Range<Int>]? {
        var (ranges, start): ([Range<Int>], Int) = ([], 0)
        while ranges.count < count {
            guard bundle.count - start >= 2 else { return nil }
            let length = Int(bundle[start]) << 8 | Int(bundle[start + 1])
            guard bundle.count - start - 2 >= length else { return nil }
            ranges.append(start + 2..<start + 2 + length)
            start += 2 + length
        }
        return ranges
    }
}
