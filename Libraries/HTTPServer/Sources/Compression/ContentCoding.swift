public import NIOCore

/// A coding of a response's body. Source: RFC 9110, section 8.4.1; RFC 8878 for zstd.
public enum ContentCoding: String, CaseIterable, Sendable {
    case zstd
    case gzip

    /// - Returns: `nil` if memory is missing
    public func compress(_ plain: ByteBuffer) -> ByteBuffer? {
        switch self {
        case .zstd: ZstdCompressor.compress(plain)
        case .gzip: GzipCompressor.compress(plain)
        }
    }
}

/// The codings that a client accepts, by its `Accept-Encoding`; none if it sent none. Source: RFC 9110, section 12.5.3.
extension AcceptedWeights {
    func accepts(_ coding: ContentCoding) -> Bool { weight(coding) > 0 }

    /// The coding with the highest weight; of equal ones the first of ``ContentCoding``, which is the fastest. `nil` if plain bytes
    /// are preferred.
    var preferredCoding: ContentCoding? {
        let best = ContentCoding.allCases.reduce(ContentCoding.zstd) { weight($1) > weight($0) ? $1 : $0 }
        return accepts(best) && weight(best) >= self["identity"] ?? 0 ? best : nil
    }

    /// `*` stands for gzip, which every client knows, and not for zstd.
    private func weight(_ coding: ContentCoding) -> Double {
        self[coding.rawValue] ?? (coding == .gzip ? self["x-gzip"] : nil) ?? (coding == .zstd ? 0 : self["*"] ?? 0)
    }
}
