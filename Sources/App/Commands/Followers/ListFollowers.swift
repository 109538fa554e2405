internal import ArgumentParser
internal import EventStore

/// `humon followers list`
struct ListFollowers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the followers: how far they are, who leads, what is parked.",
        discussion: """
            A follower's lag counts positions of the log. Where nobody leads there is no lease: no server runs it.

            EXAMPLE: humon followers list
            """
    )

    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await options.reading { client, output in
            let followers = try await Followers(client: client).statuses()
            let rows: [[Field]] = followers.map { follower in
                [
                    .text(follower.name), .number(follower.position), .count(follower.lag), .time(follower.leasedUntil),
                    .count(follower.parkedStreams),
                ]
            }
            try output.write(
                Table("follower", "position", "lag", "leased_until", "parked_streams", rows: rows),
                whenEmpty: "Nobody has followed this log yet.")
        }
    }
}
