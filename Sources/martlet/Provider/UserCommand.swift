import ArgumentParser
import PushSupport

/// `martlet user`: shows what a provider knows of a user.
struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "user",
        "The history and the badge of a user.",
        example: "user history alice --app com.example.MyApp",
        subcommands: [History.self, Badge.self]
    )

    /// The users of an app.
    enum User: IdentifiedResource {
        typealias Access = AppOptions

        static let path = ["users"]
        static let id = ArgumentHelp("The user's id.", valueName: "user")
    }

    /// `martlet user history`: shows the deliveries and token events of the user's devices.
    struct History: RequestCommand {
        static let configuration = CommandConfiguration(
            "history",
            "The deliveries and token events of the user's devices, newest first.",
            example: "user history alice --app com.example.MyApp"
        )

        @OptionGroup var access: AppOptions
        @OptionGroup var shown: LimitOption
        @OptionGroup var user: ResourceID<User>

        var request: APIRequest { self.user.request(.get, ["history"], query: [("limit", "\(self.shown.limit)")]) }

        func text(of response: JSONValue) -> String { HistoryText.of(response) }
    }

    /// `martlet user badge`: shows or sets the user's badge count.
    struct Badge: RequestCommand {
        static let configuration = CommandConfiguration("badge", "Show or set the user's badge count.")
            .example("user badge alice --set 0 --app com.example.MyApp")

        @OptionGroup var access: AppOptions
        @OptionGroup var user: ResourceID<User>
        @Option(help: "The count from now on.") var set: Int?

        var request: APIRequest {
            self.user.request(self.set == nil ? .get : .put, ["badge"], body: self.set.map { ["count": $0.json] })
        }

        func text(of response: JSONValue) -> String { CellText.of(response["count"]) }
    }
}
