import ArgumentParser
import PushSupport

struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "What a provider knows of a user.",
        discussion: "Example: martlet user history alice --app com.example.MyApp",
        subcommands: [History.self, Badge.self]
    )

    struct History: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Everything that happened to the user's devices; newest first.",
            discussion: "Example: martlet user history alice --app com.example.MyApp"
        )

        @OptionGroup var access: AppAccess
        @OptionGroup var shown: LimitOption

        @Argument(help: "The user's id.")
        var user: String

        func run() async throws {
            let query = [("limit", Optional("\(self.shown.limit)"))]
            try await self.access.show(.get, ["users", self.user, "history"], query: query, HistoryText.of)
        }
    }

    struct Badge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show or set the user's badge count.",
            discussion: "Example: martlet user badge alice --set 0 --app com.example.MyApp"
        )

        @OptionGroup var access: AppAccess

        @Argument(help: "The user's id.")
        var user: String

        @Option(help: "What it is from now on.")
        var set: Int?

        func run() async throws {
            let path = ["users", self.user, "badge"]
            let body: [String: JSONValue?]? = self.set.map { ["count": .integer(Int64($0))] }
            try await self.access.show(self.set == nil ? .get : .put, path, body: body) { CellText.of($0["count"]) }
        }
    }
}
