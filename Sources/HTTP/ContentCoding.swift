internal import CZlib
internal import NIOCore
internal import Notation

/// How the bytes of an answer may be packed. Source: RFC 9110, section 8.4.1.
enum ContentCoding: String, CaseIterable {
    case gzip
    /// Which is zlib's format, not bare deflate.
    case deflate

    /// Of zlib's nine: the fastest. Those behind it make an answer some percent smaller and take several times as long (decision 17).
    private static let level: Int32 = 1
    /// As large as they come: what a client must be able to unpack anyway.
    private static let windowBits: Int32 = 15
    /// zlib's own.
    private static let memoryLevel: Int32 = 8

    /// nil where there is no memory for it.
    func compress(_ plain: ByteBuffer) -> ByteBuffer? {
        var stream = z_stream()
        // 16 more stands for gzip's header and trailer.
        let windowBits = self == .gzip ? Self.windowBits + 16 : Self.windowBits
        let size = Int32(MemoryLayout<z_stream>.size)
        guard
            deflateInit2_(
                &stream, Self.level, Z_DEFLATED, windowBits, Self.memoryLevel, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
        else { return nil }
        defer { deflateEnd(&stream) }
        let bound = Int(deflateBound(&stream, UInt(plain.readableBytes)))
        var compressed = ByteBufferAllocator().buffer(capacity: bound)
        let isDone = plain.withUnsafeReadableBytes { input in
            // zlib only reads there, whatever its header says.
            stream.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
            stream.avail_in = UInt32(input.count)
            return compressed.writeWithUnsafeMutableBytes(minimumWritableBytes: bound) { output in
                stream.next_out = output.bindMemory(to: UInt8.self).baseAddress
                stream.avail_out = UInt32(output.count)
                return CZlib.deflate(&stream, Z_FINISH) == Z_STREAM_END ? Int(stream.total_out) : 0
            } > 0
        }
        return isDone ? compressed : nil
    }
}

/// What a client takes, by its `Accept-Encoding`. Source: RFC 9110, section 12.5.3.
struct AcceptedCodings {
    /// From 0, not at all, to 1, by name.
    private var weights: [String: Double] = [:]

    /// - Parameter header: nil where the client says nothing, and then gets what every client understands
    init(_ header: String?) {
        for member in (header ?? "").split(separator: ",") {
            let parts = member.split(separator: ";").map { $0.trimmingSpaces.lowercased() }
            guard let name = parts.first, let weight = Self.weight(parts.dropFirst()) else { continue }
            weights[name == "x-gzip" ? "gzip" : name] = weight
        }
    }

    /// nil for what is no weight.
    private static func weight(_ parameters: ArraySlice<String>) -> Double? {
        guard let parameter = parameters.first(where: { $0.hasPrefix("q=") }) else { return 1 }
        return Double(numeral: String(parameter.dropFirst(2))).flatMap { (0...1).contains($0) ? $0 : nil }
    }

    func accepts(_ coding: ContentCoding) -> Bool { weight(coding) > 0 }

    /// The coding to answer in; nil where the plain bytes are as welcome or the only ones.
    var preferred: ContentCoding? {
        let best = ContentCoding.allCases.reduce(ContentCoding.gzip) { weight($1) > weight($0) ? $1 : $0 }
        return accepts(best) && weight(best) >= weights["identity"] ?? 0 ? best : nil
    }

    private func weight(_ coding: ContentCoding) -> Double { weights[coding.rawValue] ?? weights["*"] ?? 0 }
}
