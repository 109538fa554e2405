/// Pieces in, lines out.
struct ArchiveLineSplitter {
    /// Of the line that was given last, from 1.
    private(set) var number: Int64 = 0

    private let source: @Sendable () throws -> [UInt8]?
    private var buffer: [UInt8] = []
    /// Where in the buffer the next line begins.
    private var start = 0

    init(source: @escaping @Sendable () throws -> [UInt8]?) { self.source = source }

    /// With its line feed, which a last one may lack; nil at the end.
    mutating func next() throws -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                number += 1
                return Array(buffer[start...end])
            }
            guard buffer.count - start < LogArchive.lineLimit else {
                throw LogArchiveError(line: number + 1, "The line is longer than \(LogArchive.lineLimit) bytes")
            }
            buffer.removeSubrange(..<start)
            (searched, start) = (buffer.count, 0)
            guard let piece = try source() else {
                guard !buffer.isEmpty else { return nil }
                defer { buffer = [] }
                number += 1
                return buffer
            }
            buffer += piece
        }
    }
}
