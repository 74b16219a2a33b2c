import ArgumentParser
import PushSupport

/// `martlet user`: shows what a provider knows of a user.
struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration("user").help("The history and the badge of a user.")
        .example("user history alice --app com.example.MyApp")
        .subcommands([ShowHistory<User>.self, Badge.self])

    /// The users of an app.
    enum User: ResourceWithHistory {
        static let path = "users"
        static let id = ArgumentHelp("The user's id.", valueName: "user")
        static let history = CommandConfiguration("history")
            .help("The deliveries and token events of the user's devices, newest first.")
            .example("user history alice --app com.example.MyApp")
    }

    /// `martlet user badge`: shows or sets the user's badge count.
    struct Badge: RequestCommand {
        static let configuration = CommandConfiguration("badge").help("Show or set the user's badge count.")
            .example("user badge alice --set 0 --app com.example.MyApp")

        @OptionGroup var access: AppOptions
        @OptionGroup var user: ResourceID<User>
        @Option(help: "The count from now on.") var set: Int?

        var request: APIRequest {
            guard let set else { return self.user.request(.get, "badge") }
            return self.user.request(.put, "badge").body(["count": set.json])
        }

        func text(of response: JSONValue) -> String { response["count"].plainText }
    }
}
