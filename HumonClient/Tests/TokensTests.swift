import Foundation
import Testing

@testable import HumonClient

@Suite struct `The tokens of a device` {
    private static func withFile(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "humon-client-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.appending(path: "token"))
    }

    @Test func `a file keeps the tokens for its owner alone, and nothing else remains`() throws {
        try Self.withFile { file in
            let store = FileTokenStore(file: file)
            #expect(try store.load() == nil)
            for tokens in [DeviceTokens(current: "a", next: "b"), DeviceTokens(current: "b")] {
                try store.save(tokens)
                #expect(try FileTokenStore(file: file).load() == tokens)
            }
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            let folder = file.deletingLastPathComponent().path
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["token"])
            try store.save(nil)
            try store.save(nil)
            #expect(try store.load() == nil)
        }
    }

    @Test func `a file that cannot be read or written is an error, and no new device`() throws {
        try Self.withFile { file in
            try Data("x".utf8).write(to: file)
            #expect(throws: DecodingError.self) { try FileTokenStore(file: file).load() }
            let missing = FileTokenStore(file: file.appending(path: "below"))
            #expect(throws: FileTokenStore.WriteError(code: ENOTDIR)) { try missing.save(DeviceTokens(current: "a")) }
        }
    }

    @Test func `two sign-ups at the same time use one token, which is stored before`() async throws {
        let store = MemoryTokenStore()
        let identity = DeviceIdentity(store: store)
        async let first = identity.tokenForSignUp()
        async let second = identity.tokenForSignUp()
        let tokens = try await [first, second]
        #expect(tokens[0] == tokens[1])
        #expect(store.load() == DeviceTokens(current: tokens[0]))
    }

    @Test func `a rotation that was interrupted continues with the same new token`() async throws {
        let store = MemoryTokenStore(DeviceTokens(current: "a"))
        let next = try await DeviceIdentity(store: store).tokensForRotation().next
        #expect(store.load() == DeviceTokens(current: "a", next: next))
        let identity = DeviceIdentity(store: store)
        #expect(try await identity.tokensForRotation() == ("a", next))
        try await identity.finishRotation(to: next)
        #expect(store.load() == DeviceTokens(current: next))
        try await identity.finishRotation(to: next)
        #expect(store.load() == DeviceTokens(current: next))
    }

    @Test func `a device without a token has nothing to rotate`() async {
        await #expect(throws: HumonError.notSignedUp) {
            try await DeviceIdentity(store: MemoryTokenStore()).tokensForRotation()
        }
    }
}
