/// The id of an account. An account is a person with an e-mail address and a password; a user of the module Users is a device.
public struct AccountID: RawRepresentable, Hashable, Sendable {
    public var rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }
}
