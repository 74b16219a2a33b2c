import ArgumentParser
import PushSupport

/// `martlet user`: shows what a provider knows of a user.
struct UserCommand: AsyncParsableCommand {
    static let configuration = command("user", "The history and the badge of a user.")
        .example("user history alice --app com.example.MyApp")
        .subcommands([ShowHistory<User>.self, Badge.self])

    /// The users of an app.
    enum User: ResourceWithHistory {
        static let path = "users"
        static let id = ArgumentHelp("The user's id.", valueName: "user")
        static let history = command("history", "The deliveries and token events of the user's devices, newest first.")
            .example("user history alice --app com.example.MyApp")
    }

    /// `martlet user badge`: shows or sets the user's badge count.
    struct Badge: ResourceCommand {
        static let configuration = command("badge", "Show or set the user's badge count.")
            .example("user badge alice --set 0 --app com.example.MyApp")

        @OptionGroup var resource: ResourceOptions<User>
        @Option(help: "The count from now on.") var set: Int?

        func request() -> APIRequest {
            guard let set else { return self.resource.request(.get, "badge") }
            return self.resource.request(.put, "badge").body(["count": set.json])
        }

        func text(of response: JSONValue) -> String { response["count"].plainText }
    }
}
