internal import ArgumentParser
internal import Foundation

/// Runs the program. The target `humon` calls it; App itself is a library, so that tests and benchmarks import it.
package enum Program {
    package static func main() async { await Humon.main() }
}

/// `humon`: the service and the operator's tool.
struct Humon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "humon",
        abstract: "The backend of an app that shows events near you on a map.",
        discussion: """
            Settings come from the environment and from .env in the working directory; `humon settings` lists them.
            Without DATABASE_URL and --database, humon starts a private PostgreSQL.

            Exit codes: 0 success; 1 failure, with the reason on standard error; 2 the command ran and its answer is no (differences, \
            violations, no result, no consent); 64 unusable command line; 129 ended with its terminal; 130 ended by Ctrl-C; 143 ended by SIGTERM.

            EXAMPLE: humon log tail -f
            """,
        version: Version.current,
        subcommands: [
            Serve.self, Migrate.self, Doctor.self, Streams.self, Log.self, Projections.self, SubscriptionCommands.self,
            EventCommands.self, UserCommands.self, AccountCommands.self, Demo.self, ShowSettings.self, Completion.self,
        ]
    )

    static func main() async {
        // Otherwise a closed pipe would end the process before it could clean up.
        signal(SIGPIPE, SIG_IGN)
        // They have no meaning here, and would end the process by default. An ignored signal would stay ignored in child processes.
        for number in [SIGUSR1, SIGUSR2] { signal(number) { _ in } }
        do {
            let command = try await asyncParseAsRoot()
            // The server handles signals itself: it stops gracefully.
            if command is Serve { try await run(command) } else { try await Interruption.cancelling { try await run(command) } }
        } catch {
            exit(after: error)
        }
        Exit.now(Exit.done)
    }

    private static func run(_ command: any ParsableCommand) async throws {
        var command = command
        if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
    }
}
