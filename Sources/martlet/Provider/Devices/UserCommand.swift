import ArgumentParser
import PushSupport

/// `martlet user`: shows what a provider knows of a user.
struct UserCommand: AsyncParsableCommand {
    static let configuration = command("user", "The history, the badge and the preferences of a user.")
        .example("user history alice --app com.example.MyApp")
        .subcommands([ShowHistory<User>.self, Badge.self, UserPreferencesCommand.self, EraseResource<User>.self])

    /// The users of an app.
    enum User: ResourceWithHistory, ErasableResource {
        static let path = "users"
        static let id = ArgumentHelp("The user's id.", valueName: "user")
        static let history = command("history", "The deliveries and token events of the user's devices, newest first.")
            .example("user history alice --app com.example.MyApp")
        static let erase = command("remove", "Erase a user with everything that is kept of the user.")
            .example("user remove alice --app com.example.MyApp")
        static let loss = "the user's devices, their history, and notifications to the user alone"
    }

    /// `martlet user badge`: shows or sets the user's badge count.
    struct Badge: ResourceCommand {
        static let configuration = command("badge", "Show or set the user's badge count.")
            .example("user badge alice --set 0 --app com.example.MyApp")

        @OptionGroup var resource: ResourceOptions<User>
        @Option(parsing: .unconditional, help: "The new count.") var set: Int?

        func request() -> APIRequest {
            guard let set else { return self.resource.request(.get, "badge") }
            return self.resource.request(.put, "badge").body(["count": set.json])
        }

        func text(of response: JSONValue) -> String { response["count"].plainText }
    }
}
