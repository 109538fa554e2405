internal import Encoding

/// What the index notes of an event beside its JSON, in eight bytes.
struct EventNote: Sendable, Hashable {
    /// The time of the last domain event, in seconds from 1970 to 2106.
    var revisedAt: UInt32 = 0
    /// The mark of the JSON with all texts; 0 if the JSON of the index has all of them.
    var mark: UInt32 = 0

    /// ``revisedAt``.
    var time: Timestamp { Timestamp(milliseconds: Int64(revisedAt) * 1_000) }

    var rawValue: UInt64 { UInt64(revisedAt) << 32 | UInt64(mark) }
}

extension EventNote {
    init(rawValue: UInt64) {
        self.init(revisedAt: UInt32(rawValue >> 32), mark: UInt32(truncatingIfNeeded: rawValue))
    }

    static func seconds(_ time: Timestamp) -> UInt32 { UInt32(clamping: time.milliseconds / 1_000) }
}

extension Event {
    /// Appends the event's JSON as lists show it.
    func writeListed(by render: EventRendering, into bytes: inout [UInt8]) -> EventNote {
        var (listed, note) = (self, EventNote(revisedAt: EventNote.seconds(revisedAt)))
        if !details.texts.keys.allSatisfy(\.isListed) {
            var whole: [UInt8] = []
            render(self, &whole)
            note.mark = max(1, whole.withRawSpan { EventVersion.mark(of: $0) })
            listed.details.texts = details.texts.filter(\.key.isListed)
        }
        render(listed, &bytes)
        return note
    }
}
