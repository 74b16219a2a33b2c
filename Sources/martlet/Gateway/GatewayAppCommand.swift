import ArgumentParser
import PushProtocol

struct GatewayAppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "The apps that can be pushed to.",
        discussion: "Example: martlet gateway app add com.example.MyApp --team DEF123GHIJ",
        subcommands: [List.self, Add.self, Remove.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List them.",
            discussion: "Example: martlet gateway app list"
        )

        @OptionGroup var admin: AdminOptions

        func run() async throws {
            try await self.admin.list(
                "apps",
                ["apps"],
                [.init("bundle id", "bundleId"), .init("team", "teamId"), .init("broadcast", "broadcast")]
            )
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Register one.",
            discussion: "Example: martlet gateway app add com.example.MyApp --team DEF123GHIJ --broadcast"
        )

        @OptionGroup var admin: AdminOptions

        @Argument(help: "Its bundle id.")
        var bundleID: String

        @Option(help: "The team that it belongs to, 10 letters or digits.")
        var team: String

        @Flag(inversion: .prefixedNo, help: "Whether it may use broadcast channels. Default: as the gateway decides.")
        var broadcast: Bool?

        func run() async throws {
            let body: [String: JSONValue?] = [
                "teamId": .string(self.team), "bundleId": .string(self.bundleID),
                "broadcast": self.broadcast.map(JSONValue.bool),
            ]
            try await self.admin.show(APIRequest(.post, ["apps"], body: body)) { _ in
                "\(self.bundleID) is registered for team \(self.team)"
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove one: nobody can push to it any more.",
            discussion: "Example: martlet gateway app remove com.example.MyApp"
        )

        @OptionGroup var admin: AdminOptions

        @Argument(help: "Its bundle id.")
        var bundleID: String

        func run() async throws {
            try await self.admin.show(APIRequest(.delete, ["apps", self.bundleID])) { _ in
                "\(self.bundleID) is removed"
            }
        }
    }
}
