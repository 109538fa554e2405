import Foundation
import TestServer
import Testing

@testable import App

@Suite(.directory) struct `humon serve without a DATABASE_URL` {
    @Test func `serve starts a private PostgreSQL, generates a secret and prints a curl command that works`() async throws {
        try await HumonProcess.withServer(in: directory) { server, _ in
            #expect(server.output.contains("\nApps: the map of events, the to-do app\n"))
            let command = try #require(server.output.firstMatch(of: /\n  (curl .*)\n/)).1
            let answer = try await HumonProcess.run(
                ["-c", String(command) + " --silent"], in: directory, executable: URL(fileURLWithPath: "/bin/sh")
            )
            #expect(answer.output.contains(#"{"id":1,"device_token":""#))
            let file = directory.appending(path: ".env").path
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let secret = try String(contentsOfFile: file, encoding: .utf8).firstMatch(of: /TB_APP_SECRET=([0-9a-f]{64})\n/)?.1
            #expect(!(server.output + server.error).contains(try #require(secret)))
        }
    }

    @Test func `a second server on the directory or the operators' port is refused, and a command may use it`() async throws {
        try await HumonProcess.withServer(in: directory) { server, port in
            let second = try await HumonProcess.run(["serve"], in: directory)
            #expect(second.status != 0)
            #expect(second.error.contains("Another program (process \(server.identifier)) is running on"))
            let elsewhere = [
                "HUMON_DATA": directory.appending(path: "other").path,
                "HUMON_ADMIN_PORT": "\(try #require(server.adminPort))",
            ]
            let third = try await HumonProcess.run(["serve"], in: directory, environment: elsewhere)
            #expect(third.status == 1 && third.error.contains("HUMON_ADMIN_PORT"), "\(third.error)")
            try await HumonProcess.run(["demo", "--events", "250"], in: directory).succeeded()
            let found = try await exchange("GET", "http://127.0.0.1:\(port)/v1/events/1")
            #expect(found.status == 200)
            let stream = try await HumonProcess.run(["streams", "show", "event-1", "--json"], in: directory)
            #expect(stream.output.contains(#""type":"EventCreated""#))
            let check = try await HumonProcess.run(["migrate", "--check"], in: directory)
            #expect((check.status, check.output) == (0, "The database has all migrations.\n"))
        }
    }
}

@Suite(.directory) struct `A start that fails` {
    @Test func `unusable settings give a message without a secret`() async throws {
        let rule = "must be 8 or more visible ASCII characters without a comma."
        for (name, value, sentence) in [
            ("HUMON_PROT", "8080", "HUMON_PROT is not a setting of humon"),
            ("HUMON_PORT", "http", "HUMON_PORT must be a whole number from 0 to 65535."),
            ("HUMON_ADMIN_TOKEN", "p4ss", "HUMON_ADMIN_TOKEN must be 16 or more visible ASCII characters."),
            ("TB_APP_SECRET", "p4ssp4s", "TB_APP_SECRET \(rule)"),
            ("TB_APP_SECRET", "p4ss-old,p4ss-new", "TB_APP_SECRET \(rule)"),
            ("HUMON_PREVIOUS_APP_SECRET", "p4ss old one", "HUMON_PREVIOUS_APP_SECRET \(rule)"),
            ("HUMON_APPS", "events,map", "HUMON_APPS must be events, tasks, or both with a comma between them."),
            ("HUMON_READS", "friends", "HUMON_READS must be one of public, devices."),
        ] {
            var reader = SettingReader(places: [(.environment, [name: value])])
            _ = Settings(&reader)
            let message = (reader.unknownNames + reader.errors).map(\.description).joined()
            #expect(message.contains(sentence) && !message.contains("p4ss"), "\(message)")
        }
        // What only a start finds out, and one setting for the way of its message.
        let url = "postgres://u:p4ssw0rd@127.0.0.1:1/x"
        let cases: [([String: String], Int32, String)] = [
            (["DATABASE_URL": url], 78, "TB_APP_SECRET is not set."),
            (["DATABASE_URL": url, "TB_APP_SECRET": HumonProcess.secret], 1, "no connection to PostgreSQL"),
            (["DATABASE_URL": "postgres://u:p4ss%zzw0rd@x/", "TB_APP_SECRET": HumonProcess.secret], 1, "not one that libpq"),
            (["HUMON_ADMIN_TOKEN": "p4ss"], 78, "HUMON_ADMIN_TOKEN must be 16 or more"),
            (["HUMON_ADMIN_HOST": "0.0.0.0"], 78, "(HUMON_ADMIN_HOST is 0.0.0.0): set HUMON_ADMIN_TOKEN"),
            (["HUMON_ADMIN_HOST": "127.0.0.1.example.org"], 78, "HUMON_ADMIN_HOST is 127.0.0.1.example.org"),
            (["HUMON_POSTGRES_BIN": "/nowhere"], 1, "bin directory in HUMON_POSTGRES_BIN."),
        ]
        for (environment, status, sentence) in cases {
            let result = try await HumonProcess.run(["serve"], in: directory, environment: environment)
            #expect(result.status == status && result.error.contains(sentence), "\(result.error)")
            for secret in ["p4ss", "zzw0rd"] { #expect(!(result.output + result.error).contains(secret)) }
        }
    }
}
