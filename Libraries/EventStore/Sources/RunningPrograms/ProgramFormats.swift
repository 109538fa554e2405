internal import Hashing

/// The stored formats that one version of the program reads and writes.
public struct ProgramFormats: Sendable, Hashable {
    struct Entry: Sendable, Hashable {
        var category: String
        var type: String
        /// All formats from 1 to this one.
        var readable: Int16
        /// nil: the type is read and not written.
        var written: Int16?
    }

    /// By category and type.
    let entries: [Entry]

    /// - Parameter domainEvents: of all modules
    public init(of domainEvents: [any DomainEvent.Type]) {
        self.init(
            entries: domainEvents.flatMap { domainEvent in
                domainEvent.storedTypes.map { stored in
                    Entry(
                        category: domainEvent.category, type: stored.name, readable: stored.currentFormat,
                        written: stored.writtenFormat)
                }
            })
    }

    init(entries: [Entry]) { self.entries = entries.sorted { ($0.category, $0.type) < ($1.category, $1.type) } }

    /// The same for the same formats, above 0.
    var key: Int32 {
        let text = entries.map { "\($0.category) \($0.type) \($0.readable) \($0.written ?? 0)\n" }.joined()
        let number = SHA256.hash(text.utf8).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return max(1, Int32(truncatingIfNeeded: number & 0x7FFF_FFFF))
    }

    /// The first format that this program writes and the other cannot read. A category that the other does not have is no conflict.
    func unreadable(by other: ProgramFormats) -> (written: Entry, readable: Int16)? {
        for entry in entries {
            guard let written = entry.written, other.entries.contains(where: { $0.category == entry.category }) else { continue }
            let readable = other.entries.first { $0.category == entry.category && $0.type == entry.type }?.readable ?? 0
            if written > readable { return (entry, readable) }
        }
        return nil
    }
}

/// Two versions of the program that must not run at the same time: one writes what the other does not read.
public struct FormatConflict: Error, Hashable, CustomStringConvertible {
    public enum Writer: Sendable, Hashable {
        /// The program that looked.
        case thisProgram
        /// One that serves now.
        case another
    }

    public var writer: Writer
    /// The stored name of a domain event.
    public var type: String
    /// That is written.
    public var format: Int16
    /// Up to which the other reads; 0: it does not know the type.
    public var readable: Int16

    public var description: String { "\(problem) \(hint)" }

    public var problem: String {
        let reads = readable == 0 ? "does not know \(type)" : "reads it up to format \(readable)"
        return switch writer {
        case .thisProgram: "This program writes \(type) in format \(format), and a server that runs now \(reads)."
        case .another: "A server that runs now writes \(type) in format \(format), and this program \(reads)."
        }
    }

    /// What to do.
    public var hint: String {
        switch writer {
        case .thisProgram:
            "First replace every server by a release that reads this format and does not write it yet; then start this program."
        case .another: "Start a release that reads this format."
        }
    }
}

extension FormatConflict {
    /// The first conflict between a program and the serving versions; nil if there is none.
    init?(of program: ProgramFormats, with serving: [ProgramFormats]) {
        for other in serving {
            if let (entry, readable) = program.unreadable(by: other) {
                self.init(writer: .thisProgram, type: entry.type, format: entry.written ?? 0, readable: readable)
                return
            }
            if let (entry, readable) = other.unreadable(by: program) {
                self.init(writer: .another, type: entry.type, format: entry.written ?? 0, readable: readable)
                return
            }
        }
        return nil
    }
}
