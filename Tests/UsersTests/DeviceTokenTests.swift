import Encoding
import Testing

@testable import Users

@Suite struct `Handling a device token` {
    private let token = DeviceToken(secret: "s3cret")

    @Test func `a description of a device token does not contain its secret`() {
        struct Request { var token: DeviceToken }
        var dumped = ""
        dump(Request(token: token), to: &dumped)
        var dumpedAlone = ""
        dump(token, to: &dumpedAlone)
        let shown = [
            token.description, token.debugDescription, "\(token)", String(describing: token), String(reflecting: token),
            "\([token])", "\(Optional.some(token) as Any)", "\(Request(token: token))", String(reflecting: Request(token: token)),
            "\((token, 1))", "\([token: 1])", dumped, dumpedAlone,
        ]
        for text in shown {
            #expect(!text.contains("s3cret"))
            #expect(text.contains("DeviceToken(redacted)"))
        }
    }

    @Test func `a device token is well formed only if it is printable ASCII`() {
        for well in [
            "a", "4F9E-device", "a b", "0b6f2c1e-5d0a-4a35-9c53-3f5f1c1f6f10", "+/=", String(repeating: "x", count: 255),
            "a" + String(decoding: 0x20...0x7E as ClosedRange<UInt8>, as: UTF8.self),
        ] {
            #expect(DeviceToken(secret: well).isWellFormed)
        }
        for ill in ["", " ", " a", "a ", "a\t", "a\n", "\u{7F}", "\0", "\u{FFFD}", "é", "😀"] {
            #expect(!DeviceToken(secret: ill).isWellFormed)
        }
    }
}

@Suite struct `Digesting a device token` {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("device-1", "03204de92e11fc8c528139be419065920eb83dbff1a4663bbea455aa6e9702bd"),
        ("s3cret", "1ec1c26b50d5d3c58d9583181af8076655fe00756bf7285940ba3670f99fcba0"),
    ])
    func `the digest is SHA-256, written as hexadecimal digits`(secret: String, hexadecimal: String) {
        let digest = DeviceToken(secret: secret).digest
        #expect(digest.bytes.count == 32)
        #expect(digest.hexadecimal == hexadecimal)
        #expect(DeviceDigest(stored: hexadecimal) == digest)
        #expect(DeviceDigest(stored: hexadecimal.uppercased()) == nil)
    }

    @Test func `a digest is read from 64 lower-case hexadecimal digits only`() {
        for text in [
            "", "e3", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8555",
            "g3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            " e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85",
        ] { #expect(DeviceDigest(stored: text) == nil) }
    }
}
