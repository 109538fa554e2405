#if canImport(Security)
    internal import Foundation
    internal import Security

    /// Keeps the tokens in the keychain of the device, where no other app reads them and no backup to another device takes them.
    public struct KeychainTokenStore: TokenStore {
        /// The keychain refused a call.
        public struct KeychainError: Error, Sendable, Hashable, CustomStringConvertible {
            /// The result code of Security.
            public var status: Int32

            public var description: String { "The keychain failed with status \(status)" }
        }

        private let service: String
        private let account: String
        private let accessGroup: String?

        /// - Parameters:
        ///   - service: names the app, such as its bundle identifier
        ///   - account: names one of several servers
        ///   - accessGroup: shares the tokens with the app's extensions
        public init(service: String, account: String = "humon", accessGroup: String? = nil) {
            self.service = service
            self.account = account
            self.accessGroup = accessGroup
        }

        private var item: [CFString: Any] {
            var item: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
                // Without it macOS takes the login keychain, which knows no access groups.
                kSecUseDataProtectionKeychain: true,
            ]
            if let accessGroup { item[kSecAttrAccessGroup] = accessGroup }
            return item
        }

        /// - Throws: `KeychainError`; `DecodingError` if the item has another content
        public func load() throws -> DeviceTokens? {
            let query = item.merging([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne]) { $1 }
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = found as? Data else { throw KeychainError(status: status) }
            return try JSONDecoder().decode(DeviceTokens.self, from: data)
        }

        /// - Throws: `KeychainError`; `EncodingError`
        public func save(_ tokens: DeviceTokens?) throws {
            guard let tokens else {
                let status = SecItemDelete(item as CFDictionary)
                guard [errSecSuccess, errSecItemNotFound].contains(status) else { throw KeychainError(status: status) }
                return
            }
            let content: [CFString: Any] = [
                kSecValueData: try JSONEncoder().encode(tokens),
                // Readable in the background, after the device was unlocked once.
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(item as CFDictionary, content as CFDictionary)
            if status == errSecItemNotFound { status = SecItemAdd(item.merging(content) { $1 } as CFDictionary, nil) }
            guard status == errSecSuccess else { throw KeychainError(status: status) }
        }
    }
#endif
