internal import ArgumentParser
internal import Foundation
internal import SystemPackage

/// Runs the program. The target `humon` calls it; App itself is a library, so that tests and benchmarks import it.
package enum Program {
    package static func main() async { await Humon.main() }

    /// Gives each closed standard stream a descriptor that can be neither read nor written. Otherwise the next file or socket would get its
    /// number, and messages would go there. The program calls it before its first `await`, because Dispatch opens descriptors then.
    package static func reserveStandardStreams() {
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) == -1 {
            // The system gives the lowest free number.
            _ = try? FileDescriptor.open(FilePath("/dev/null"), stream == STDIN_FILENO ? .writeOnly : .readOnly)
        }
    }
}

/// `humon`: the service and the operator's tool.
///
/// A command's type is named after its words: `humon log verify` is `LogVerifyCommand`, in a file of that name. A group of commands
/// ends in `Commands`.
struct Humon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "humon",
        abstract: "The backend of an app that shows events near you on a map.",
        discussion: """
            Settings come from the environment and from .env in the working directory; `humon settings` lists them.
            Without DATABASE_URL and --database, humon starts a private PostgreSQL.

            Exit codes: 0 success; 1 failure, with the reason on standard error; 2 the command ran and its answer is no (differences, \
            violations, no result, no consent); 64 unusable command line; 78 unusable setting; 129 ended with its terminal; 130 ended by \
            Ctrl-C; 143 ended by SIGTERM.

            EXAMPLE: humon log tail -f
            """,
        version: Version.current,
        subcommands: [
            ServeCommand.self, MigrateCommand.self, BackupCommand.self, RestoreCommand.self, ClusterCommands.self,
            DoctorCommand.self, StreamsCommands.self, LogCommands.self, ProjectionsCommands.self, SubscriptionsCommands.self,
            EventsCommands.self, UsersCommands.self, AccountsCommands.self, DemoCommand.self, SettingsCommand.self,
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
            if command is ServeCommand {
                try await run(command)
            } else {
                try await Interruption.cancelling { try await run(command) }
            }
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

struct ClusterCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cluster",
        abstract: "Upgrade the private PostgreSQL.",
        discussion: "EXAMPLE: humon cluster upgrade",
        subcommands: [ClusterUpgradeCommand.self])
}

struct StreamsCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "streams",
        abstract: "Show the recorded events and the state of one stream: user-1, event-12, attendance-12-1.",
        discussion: "EXAMPLE: humon streams show event-12",
        subcommands: [StreamsShowCommand.self, StreamsStateCommand.self, StreamsDiffCommand.self])
}

struct LogCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Read, search, verify, export and import the log.",
        discussion: "EXAMPLE: humon log tail -f",
        subcommands: [
            LogTailCommand.self, LogShowCommand.self, LogSearchCommand.self, LogTraceCommand.self, LogStatsCommand.self,
            LogVerifyCommand.self, LogExportCommand.self, LogImportCommand.self,
        ])
}

struct ProjectionsCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "projections",
        abstract: "List, verify and rebuild the read models while servers continue.",
        discussion: "EXAMPLE: humon projections list",
        subcommands: [
            ProjectionsListCommand.self, ProjectionsRebuildCommand.self, ProjectionsVerifyCommand.self,
            ProjectionsPruneCommand.self,
        ])
}

struct SubscriptionsCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscriptions",
        abstract: "List the subscriptions to the log, and retry their parked streams.",
        discussion: "EXAMPLE: humon subscriptions list",
        subcommands: [SubscriptionsListCommand.self, SubscriptionsParkedCommand.self, SubscriptionsRetryCommand.self])
}

struct EventsCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Hide an event from all users, and show it again.",
        discussion: "EXAMPLE: humon events hide 12 --reason spam",
        subcommands: [EventsHideCommand.self, EventsUnhideCommand.self])
}

struct UsersCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "End the token of a user, forget a user, or print what is stored of one.",
        discussion: "EXAMPLE: humon users revoke 7 --dry-run",
        subcommands: [UsersEraseCommand.self, UsersExportCommand.self, UsersRevokeCommand.self])
}

struct AccountsCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts",
        abstract: "End the tokens of an account, forget an account, or print what is stored of one.",
        discussion: "EXAMPLE: humon accounts revoke 7 --dry-run",
        subcommands: [AccountsEraseCommand.self, AccountsExportCommand.self, AccountsRevokeCommand.self])
}

/// The version of this program, for `humon --version`. Change it in the commit that makes a release.
enum Version {
    static let current = "1.0.0"
}
