import ArgumentParser
import PushSupport

struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "The apps that a provider sends for.",
        discussion: "Example: martlet app add com.example.MyApp --name 'My App'",
        subcommands: [List.self, Show.self, Add.self, Set.self]
    )

    static let columns: [TextTable.Column] = [
        .init("bundle id", "bundleId"), .init("name", "name"), .init("credentials", "environments"),
        .init("rate", "rate"), .init("since", "createdAtMs", .time),
    ]

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List them.",
            discussion: "Example: martlet app list"
        )

        @OptionGroup var provider: ProviderAccess

        func run() async throws {
            try await self.provider.list("apps", APIRequest(.get, ["apps"]), AppCommand.columns)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show one.",
            discussion: "Example: martlet app show com.example.MyApp"
        )

        @OptionGroup var provider: ProviderAccess

        @Argument(help: "Its bundle id.")
        var bundleID: String

        func run() async throws {
            try await self.provider.show(APIRequest(.get, ["apps", self.bundleID])) {
                TextTable.details(AppCommand.columns, $0)
            }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add one; nothing happens if it is there already.",
            discussion: "Example: martlet app add com.example.MyApp --name 'My App'"
        )

        @OptionGroup var provider: ProviderAccess

        @Argument(help: "Its bundle id.")
        var bundleID: String

        @Option(help: "How lists call it.")
        var name: String?

        @Option(help: "Pushes per second of all its campaigns together. Default: as fast as possible.")
        var rate: Int?

        func run() async throws {
            let body: [String: JSONValue?] = [
                "bundleId": .string(self.bundleID), "name": self.name.map(JSONValue.string),
                "rate": self.rate.map { .integer(Int64($0)) },
            ]
            try await self.provider.show(APIRequest(.post, ["apps"], body: body)) {
                TextTable.details(AppCommand.columns, $0)
            }
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change its name or its rate.",
            discussion: "Example: martlet app set com.example.MyApp --rate 2000"
        )

        @OptionGroup var provider: ProviderAccess
        @OptionGroup var change: AppChange

        @Argument(help: "Its bundle id.")
        var bundleID: String

        func run() async throws {
            try await self.provider.show(APIRequest(.patch, ["apps", self.bundleID], body: self.change.members)) {
                TextTable.details(AppCommand.columns, $0)
            }
        }
    }
}
