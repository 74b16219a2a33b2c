import ArgumentParser
import PushSupport

/// `martlet app user-secret`: manages the secrets with which an app's back end signs for its users.
struct UserSecretCommand: AsyncParsableCommand {
    static let configuration = command("user-secret", "The secrets with which a back end proves an app's users.")
        .example("app user-secret add --app com.example.MyApp")
        .subcommands([List.self, Add.self, RemoveResource<UserSecret>.self])

    /// The user secrets of an app.
    enum UserSecret: AppResource, RemovableResource {
        static let path = "user-secrets"
        static let id = ArgumentHelp("Its id.")
        static let remove = command("remove", "Remove one: proofs that it signed are rejected from now on.")
            .example("app user-secret remove 9E1C… --app com.example.MyApp")

        static func removed(_ id: String) -> String { "the user secret is removed" }
    }

    /// `martlet app user-secret list`: lists the secrets.
    struct List: ListCommand {
        static let configuration = command("list", "List them, without their texts.")
            .example("app user-secret list --app com.example.MyApp")
        static let columns: TextTable = ["id", .init("since", "createdAt")]
        static let member: String? = "userSecrets"

        @OptionGroup var access: AppOptions

        func request() -> APIRequest { .get(UserSecret.path) }
    }

    /// `martlet app user-secret add`: issues a secret.
    struct Add: RequestCommand {
        static let configuration = command("add", "Issue one, beside at most one other; its text is shown only now.")
            .example("app user-secret add --app com.example.MyApp")
        private static let columns: TextTable = ["id", .init("secret (shown only now)", "secret")]

        @OptionGroup var access: AppOptions

        func request() -> APIRequest { .post(UserSecret.path) }
        func text(of response: JSONValue) -> String { Self.columns.details(of: response) }
    }
}
