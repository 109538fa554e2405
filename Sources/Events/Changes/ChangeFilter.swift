internal import Encoding
internal import SpatialIndex

/// Decides whether a list shows an event: the same tests as in the searches of lists.
struct ChangeFilter: Sendable {
    private enum Test: Sendable {
        case box(DegreeBox)
        case circle(centre: UnitVector, squaredChord: Double)
    }

    private let test: Test
    /// In milliseconds.
    private let window: ClosedRange<Int64>
    private let words: PointIndex.WordQuery?

    init(_ search: ChangeSearch) {
        test =
            switch search.area {
            case .box(let box): .box(box)
            case .circle(let centre, let radius):
                .circle(centre: UnitVector(centre), squaredChord: Sphere.squaredChord(kilometres: radius))
            }
        window = search.filter.milliseconds ?? .min ... .max
        words = search.filter.words
    }

    /// - Parameter words: ``EventDetails/words`` of the event
    func shows(_ place: EventPlace, with words: [UInt8]) -> Bool { shows(place) && self.words?.matches(words) != false }

    /// Whether a list may show an event at this place, whatever its words: of an earlier state of an event only the place is known.
    func shows(_ place: EventPlace) -> Bool {
        guard place.startedAt.milliseconds <= window.upperBound, window.lowerBound <= place.endsAt.milliseconds else {
            return false
        }
        return switch test {
        case .box(let box): box.contains(latitude: place.coordinates.lat, longitude: place.coordinates.lon)
        case .circle(let centre, let squaredChord):
            UnitVector(place.coordinates).squaredChord(to: centre) <= squaredChord
        }
    }
}
