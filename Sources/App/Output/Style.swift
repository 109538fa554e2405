internal import EventStore

/// Source: ECMA-48, *Select Graphic Rendition*.
enum Style: Int {
    case bold = 1
    case red = 31
    case green = 32
    case yellow = 33
}

extension ReportValue {
    var style: Style? {
        switch self {
        case .state(.good, _): .green
        case .state(.doubtful, _): .yellow
        case .state(.bad, _): .red
        case .none, .text, .flag, .number, .count, .bytes, .rate, .seconds, .time, .json: nil
        }
    }
}

extension String {
    func styled(_ style: Style?, _ isColoured: Bool) -> String {
        guard isColoured, let style else { return self }
        return "\u{1B}[\(style.rawValue)m\(self)\u{1B}[0m"
    }
}
