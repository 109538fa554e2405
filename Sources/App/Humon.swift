internal import ArgumentParser
internal import Foundation

/// Runs the program. The target `humon` calls it; App itself is a library, so that tests and benchmarks import it.
package enum Program {
    package static func main() async { await Humon.main() }
}

/// `humon`: the service, and the operator's tool.
struct Humon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "humon",
        abstract: "The backend of an app that shows events near you on a map.",
        discussion: """
            Settings come from the environment and from .env in the working directory; `humon settings` lists them.
            Without DATABASE_URL humon runs on a private PostgreSQL of its own.

            Exit codes: 0 done, and the answer is good; 1 could not be done; 2 done, and the answer is no (differences, faults, \
            nothing found); 64 unusable command line; 130 and 143 ended by Ctrl-C and SIGTERM.

            EXAMPLE: humon log tail -f
            """,
        subcommands: [
            Serve.self, Migrate.self, Doctor.self, Streams.self, Log.self, Projections.self, SubscriptionCommands.self, Demo.self,
            ShowSettings.self,
        ]
    )

    static func main() async {
        // Otherwise a closed pipe would end the process before it could clean up.
        signal(SIGPIPE, SIG_IGN)
        do {
            let command = try await asyncParseAsRoot()
            // The server has its own way to stop: without haste.
            if command is Serve { try await run(command) } else { try await Interruption.cancelling { try await run(command) } }
        } catch {
            exit(after: error)
        }
    }

    private static func run(_ command: any ParsableCommand) async throws {
        var command = command
        if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
    }
}
