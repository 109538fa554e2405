public import Foundation

/// A secret of a user: to come back on another device, whose token then replaces the present one, or to read the user's calendar.
public struct Pass: Sendable, Hashable, Decodable {
    /// What a pass is for. More kinds may come.
    public struct Kind: RawRepresentable, Sendable, Hashable, Codable {
        public var rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// Ten letters to type on another device, for ten minutes and one return.
        public static let transfer = Kind(rawValue: "transfer")
        /// A secret to keep for a device that will be gone, until it is replaced or ended. Who finds it is the user.
        public static let recovery = Kind(rawValue: "recovery")
        /// The address of a calendar of what the user owns and attends, until it is replaced or ended. Nobody comes back with it.
        public static let calendar = Kind(rawValue: "calendar")
    }

    private enum CodingKeys: String, CodingKey {
        case kind
        case secret = "pass"
        case expiresAt = "expires_at"
    }

    public var kind: Kind
    /// For ``HumonAPI/comeBack(with:)``; `nil` in a list, since the server does not keep it.
    public var secret: String?
    /// `nil` for a pass that does not expire.
    public var expiresAt: Date?

    /// The address to which a calendar program subscribes; `nil` for a pass of another kind or from a list.
    public func calendarAddress(at server: URL) -> URL? {
        kind == .calendar ? secret.map { server.appending(path: "v1/calendars/\($0).ics") } : nil
    }

    /// - Throws: `DecodingError` if the value is not a pass of the API
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        kind = try fields.decode(Kind.self, forKey: .kind)
        secret = try fields.decodeIfPresent(String.self, forKey: .secret)
        expiresAt = try fields.decodeIfPresent(String.self, forKey: .expiresAt).flatMap { Timestamp.date(of: $0) }
    }
}

/// No secret in a log.
extension Pass: CustomStringConvertible, CustomReflectable {
    public var description: String { "Pass(\(kind.rawValue), hidden)" }
    public var customMirror: Mirror { Mirror(self, children: ["kind": kind.rawValue]) }
}
