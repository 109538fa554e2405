internal import Encoding
internal import EventStore

/// How one release of the module stores its domain event.
protocol SoupRelease: Sendable {
    static var storedType: StoredType { get }
    static func millilitres(in data: JSON) throws -> Int64
    static func data(millilitres: Int64) -> JSON
}

/// Reads and writes format 1, which counts litres.
enum OldRelease: SoupRelease {
    static var storedType: StoredType { StoredType("SoupCooked") }
    static func millilitres(in data: JSON) throws -> Int64 { try data.stored("litres", \.storedInteger) * 1_000 }
    static func data(millilitres: Int64) -> JSON { ["litres": JSON(millilitres / 1_000)] }
}

/// Reads format 2, which counts millilitres, and writes format 1.
enum ReadingRelease: SoupRelease {
    static var storedType: StoredType { StoredType("SoupCooked", upcasters: [lift], writing: .format(1)) }
    static func millilitres(in data: JSON) throws -> Int64 { try data.stored("millilitres", \.storedInteger) }
    static func data(millilitres: Int64) -> JSON { OldRelease.data(millilitres: millilitres) }

    @Sendable static func lift(_ content: EventContent) throws -> EventContent {
        EventContent(["millilitres": JSON(try OldRelease.millilitres(in: content.facts))])
    }
}

/// Reads and writes format 2.
enum WritingRelease: SoupRelease {
    static var storedType: StoredType { StoredType("SoupCooked", upcasters: [ReadingRelease.lift]) }
    static func millilitres(in data: JSON) throws -> Int64 { try ReadingRelease.millilitres(in: data) }
    static func data(millilitres: Int64) -> JSON { ["millilitres": JSON(millilitres)] }
}

/// A soup was cooked.
struct SoupCooked<Release: SoupRelease>: DomainEvent {
    var millilitres: Int64

    static var category: String { "soup" }
    static var storedTypes: [StoredType] { [Release.storedType] }
    static var personal: PersonalMembers { .none }

    init(millilitres: Int64) { self.millilitres = millilitres }

    init(type: String, content: EventContent) throws { millilitres = try Release.millilitres(in: content.facts) }

    var stored: (type: String, data: JSON) { ("SoupCooked", Release.data(millilitres: millilitres)) }
}
