import ArgumentParser
import ProviderModel
import PushSupport

/// `martlet person`: manages the people who can sign in to the dashboard.
struct PersonCommand: AsyncParsableCommand {
    static let configuration = command("person", "The people who can sign in.")
        .example("person add anna --role author --app com.example.MyApp")
        .subcommands([
            ListResources<Person>.self, ShowResource<Person>.self, Add.self, Change.self, RemoveResource<Person>.self,
            PerformAction<Invite>.self, Sessions.self, SignOut.self,
        ])

    private static let roles = PersonRequest.change["role"].words

    enum Person: ProviderResource, ListableResource, ShowableResource, RemovableResource {
        static let path = "people"
        static let id = ArgumentHelp("The person's id.")
        static let columns: TextTable = [
            "id", "name", "role", "apps", "disabled", .init("password", "hasPassword"),
            .init("last seen", "lastSeenAt"),
        ]
        private static let moreColumns: TextTable = [
            "language", .init("since", "createdAt"), .init("link (shown only now)", "link"),
            .init("link ends", "linkExpiresAt"),
        ]
        static let list = command("list", "List the people.").example("person list")
        static let show = command("show", "Show a person.").example("person show 9E1C…")
        static let remove = command("remove", "Remove a person: all sessions end.").example("person remove 9E1C…")

        static func details(_ response: JSONValue) -> String { (self.columns + self.moreColumns).details(of: response) }

        static func removed(_ id: String) -> String { "the person is removed, and signed out everywhere" }
    }

    /// `martlet person add`: adds a person.
    struct Add: RequestCommand {
        static let configuration = command("add", "Add a person, and show the link to choose a password with.")
            .detail("The link is a path: put the provider's address in front of it. It works once, within a day.")
            .example("person add anna --role author --app com.example.MyApp")
            .example("person add ops@example.com --role admin")

        @OptionGroup var access: ProviderOptions
        @Argument(help: "The name to sign in with.") var name: String
        @Option(
            help: """
                \(PersonCommand.roles): each allows what the ones before it do. A viewer reads, an author sends, an \
                operator manages sending, an admin does everything.
                """
        )
        var role: String
        @Option(
            name: .customLong("app"),
            help: "The bundle id of an app to which the person is limited; repeat it for several. Default: all apps."
        )
        var apps: [String] = []
        @Option(help: "The language of the pages, such as de. Default: that of the browser.") var language: String?

        func request() -> APIRequest {
            .post(Person.path).body([
                "name": self.name.json, "role": self.role.json, "apps": .texts(self.apps),
                "language": self.language?.json,
            ])
        }

        func text(of response: JSONValue) -> String { Person.details(response) }
    }

    /// `martlet person set`: changes a person.
    struct Change: ResourceCommand {
        static let configuration = command("set", "Change a person; another role, other apps and --disabled sign out.")
            .example("person set 9E1C… --role operator --all-apps")
            .example("person set 9E1C… --disabled")

        @OptionGroup var resource: ResourceOptions<Person>
        @Option(help: "The name to sign in with.") var name: String?
        @Option(help: "\(PersonCommand.roles).") var role: String?
        @Option(
            name: .customLong("app"),
            help: "An app to which the person is limited, in place of the earlier ones; repeat it for several."
        )
        var apps: [String] = []
        @Flag(help: "Make it valid for all apps.") var allApps = false
        @Flag(inversion: .prefixedNo, help: "Keep the person from signing in, or not.") var disabled: Bool?
        @Option(help: "The language of the pages, such as de.") var language: String?

        func validate() throws {
            guard !self.allApps || self.apps.isEmpty else {
                throw ValidationError("Give --all-apps or --app, not both.")
            }
        }

        func request() -> APIRequest {
            var members: [String: JSONValue?] = [
                "name": self.name?.json, "role": self.role?.json, "apps": .texts(self.apps),
                "disabled": self.disabled?.json, "language": self.language?.json,
            ]
            if self.allApps { members["apps"] = .some(.null) }
            return self.resource.request(.patch).body(members)
        }
    }

    /// `martlet person invite`: creates another link with which a person chooses a password.
    enum Invite: ResourceAction {
        typealias Kind = Person

        static let configuration = command(
            "invite",
            "Make another link to choose a password with; the earlier one ends."
        )
        .detail("Also for a person who has forgotten the password; the old one is valid until the link is used.")
        .example("person invite 9E1C…")
    }

    /// `martlet person sessions`: lists the sessions of a person.
    struct Sessions: ListCommand {
        static let configuration = command("sessions", "List the sessions of a person.").example(
            "person sessions 9E1C…"
        )
        static let columns: TextTable = [
            "id", .init("since", "createdAt"), .init("last used", "lastUsedAt"), .init("ends", "expiresAt"),
            .init("browser", "agent"),
        ]

        @OptionGroup var access: ResourceOptions<Person>

        func request() -> APIRequest { self.access.request(.get, "sessions") }
    }

    /// `martlet person sign-out`: signs a person out of all sessions.
    struct SignOut: ResourceCommand {
        static let configuration = command("sign-out", "End all sessions of a person.").example("person sign-out 9E1C…")

        @OptionGroup var resource: ResourceOptions<Person>

        func request() -> APIRequest { self.resource.request(.delete, "sessions") }

        func text(of response: JSONValue) -> String { "the person is signed out everywhere" }
    }
}
