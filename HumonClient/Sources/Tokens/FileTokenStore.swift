public import Foundation

/// Keeps the tokens in a file that only its owner may read, for programs without a keychain.
public struct FileTokenStore: TokenStore {
    /// The file could not be written.
    public struct WriteError: Error, Sendable, Hashable, CustomStringConvertible {
        /// `errno` of the failed call.
        public var code: Int32

        public var description: String { "The file of the token cannot be written: \(unsafe String(cString: strerror(code)))" }
    }

    private let file: URL

    /// - Parameter file: its folder exists
    public init(file: URL) { self.file = file }

    /// - Throws: an error of Foundation if the file is there but cannot be read; `DecodingError` if it has another content
    public func load() throws -> DeviceTokens? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return try JSONDecoder().decode(DeviceTokens.self, from: Data(contentsOf: file))
    }

    /// Replaces the file as a whole, so that a crash leaves the old or the new tokens.
    /// - Throws: `WriteError`; an error of Foundation
    public func save(_ tokens: DeviceTokens?) throws {
        guard let tokens else {
            if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
            return
        }
        let new = file.path + ".\(UUID().uuidString)"
        // Private from the beginning: a later `chmod` would leave a moment for other readers.
        let descriptor = unsafe open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw WriteError(code: errno) }
        do {
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
            defer { close(descriptor) }
            try handle.write(contentsOf: try JSONEncoder().encode(tokens))
            try handle.synchronize()
            guard unsafe rename(new, file.path) == 0 else { throw WriteError(code: errno) }
        } catch {
            _ = unsafe unlink(new)
            throw error
        }
    }
}
