import ArgumentParser
import PushSupport

struct GatewayAppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "The apps that can be pushed to.",
        discussion: "Example: martlet gateway app add com.example.MyApp --team DEF123GHIJ",
        subcommands: [List.self, Add.self, Change.self, Remove.self]
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
                [
                    .init("bundle id", "bundleId"), .init("team", "teamId"), .init("broadcast", "broadcast"),
                    .init("token length", "tokenLength"),
                ]
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

        @Option(help: "Bytes of its device tokens: 32, or 0 for varying ones. Default: as the gateway decides.")
        var tokenLength: Int?

        func run() async throws {
            let body: [String: JSONValue?] = [
                "teamId": .string(self.team), "bundleId": .string(self.bundleID),
                "broadcast": self.broadcast.map(JSONValue.bool),
                "tokenLength": self.tokenLength.map { .integer(Int64($0)) },
            ]
            try await self.admin.show(APIRequest(.post, ["apps"], body: body)) { _ in
                "\(self.bundleID) is registered for team \(self.team)"
            }
        }
    }

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change one. Devices get tokens of another length when they ask for them next.",
            discussion: "Example: martlet gateway app change com.example.MyApp --token-length 32"
        )

        @OptionGroup var admin: AdminOptions

        @Argument(help: "Its bundle id.")
        var bundleID: String

        @Flag(inversion: .prefixedNo, help: "Whether it may use broadcast channels; without, they are deleted.")
        var broadcast: Bool?

        @Option(help: "Bytes of its device tokens: 32, 0 for varying ones, or 'default' for what the gateway decides.")
        var tokenLength: String?

        func validate() throws {
            guard let tokenLength, tokenLength != "default", Int64(tokenLength) == nil else { return }
            throw ValidationError("--token-length is 32, 0 or default.")
        }

        func run() async throws {
            let body: [String: JSONValue?] = [
                "broadcast": self.broadcast.map(JSONValue.bool),
                "tokenLength": self.tokenLength.map { Int64($0).map(JSONValue.integer) ?? .null },
            ]
            try await self.admin.show(APIRequest(.patch, ["apps", self.bundleID], body: body)) { _ in
                "\(self.bundleID) is changed"
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
