internal import ArgumentParser

/// `humon`: the service, and the operator's tool.
@main
struct Humon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "humon",
        abstract: "The backend of an app that shows events near you on a map.",
        discussion: """
            Settings come from the environment and from .env in the working directory; `humon settings` lists them.
            Without DATABASE_URL humon runs on a private PostgreSQL of its own.
            """,
        subcommands: [Serve.self, Migrate.self, Projections.self, Stream.self, Doctor.self, Demo.self, ShowSettings.self]
    )
}
