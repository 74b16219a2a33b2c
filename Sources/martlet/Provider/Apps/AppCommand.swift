import ArgumentParser
import ProviderModel
import PushSupport
import PushTypes

/// `martlet app`: manages the apps of a provider.
struct AppCommand: AsyncParsableCommand {
    static let configuration = command("app", "The apps that a provider sends for.")
        .example("app add com.example.MyApp --name 'My App'")
        .subcommands([
            ListResources<App>.self, ShowResource<App>.self, Retry.self, Pause.self,
            PerformAction<Resume>.self, Add.self, AppSetCommand.self,
            EraseResource<App>.self,
            UserSecretCommand.self,
        ])

    enum App: ProviderResource, ListableResource, ShowableResource, ErasableResource {
        static let path = "apps"
        static let id = ArgumentHelp("Its bundle id.", valueName: "bundle-id")
        static let receipts = AppRequest.change["receipts"].words
        static let rates = AppRequest.change["rate"].bounds
        static let columns: TextTable = [
            .init("bundle id", "bundleId"), "name", .init("credentials", "environments"), "rate", "receipts",
            .time("since", "createdAtMs"),
        ]
        static let list = command("list", "List all apps.").example("app list")
        static let show = command("show", "Show an app, and whether its pushes are sent.")
            .example("app show com.example.MyApp")

        private static let allColumns: TextTable = [
            .init("bundle id", "bundleId"), "name", .init("credentials", "environments"), "rate", "receipts",
            "cap",
            .init("tags that installations write", "installationTags"),
            .init("attributes that installations write", "installationAttributes"), .time("since", "createdAtMs"),
        ]

        static func details(_ response: JSONValue) -> String {
            let cap = response["cap"]
            let app = response.replacing([
                "cap": cap == .null ? .null : .string("\(cap["count"].plainText) in \(cap["window"].plainText)")
            ])
            let stop = response["stop"]["stopped"] == .bool(true) ? ["stopped: \(Self.stopped(response["stop"]))"] : []
            return ([Self.allColumns.details(of: app)] + stop + EnvironmentStateText.lines(response))
                .joined(separator: "\n")
        }

        /// Returns the description of an app's stop: its start, the caller that requested it, and the reason.
        static func stopped(_ stop: JSONValue) -> String {
            ["since \(stop["sinceMs"].timeText)", stop["by"]["name"].plainText, stop["reason"].plainText]
                .filter { !$0.isEmpty }.joined(separator: ", ").printable
        }
        static let erase = command("remove", "Erase an app with everything that is kept of it.")
            .example("app remove com.example.MyApp")
        static let loss = "its devices, notifications, schedules, webhooks and credentials"
    }

    /// `martlet app add`: adds an app.
    struct Add: ResourceCommand {
        static let configuration = command("add", "Add an app; nothing happens if it exists already.")
            .example("app add com.example.MyApp --name 'My App'")

        @OptionGroup var resource: ResourceOptions<App>
        @Option(help: "The name in lists.") var name: String?
        @Option(
            parsing: .unconditional,
            help: "Pushes per second of all its campaigns together, \(App.rates). Default: no limit."
        ) var rate: Int?
        @Option(help: "\(App.receipts): the most detailed receipts that apps may send. Default: none.")
        var receipts: String?

        func request() -> APIRequest {
            .post(App.path).body([
                "bundleId": self.resource.id.json, "name": self.name?.json, "rate": self.rate?.json,
                "receipts": self.receipts?.json,
            ])
        }
    }

    /// `martlet app retry`: probes a paused environment.
    struct Retry: AsyncParsableCommand {
        static let configuration = command("retry")
            .help("Try a paused environment again now; its pushes go on if that succeeds.")
            .example("app retry production --app com.example.MyApp")
            .example("app retry com.example.MyApp production")

        @OptionGroup var app: AppOptions
        @Argument(
            help: ArgumentHelp(
                "sandbox or production; before it the bundle id, unless --app or a setting names the app.",
                valueName: "environment"
            )
        )
        var words: [String]

        /// The environment, and the app if the arguments name one. The whole tuple is `nil` for invalid arguments.
        private var subject: (app: String?, environment: PushEnvironment)? {
            guard (1...2).contains(self.words.count),
                let environment = self.words.last.flatMap({ PushEnvironment(argument: $0) })
            else { return nil }
            return (self.words.count == 2 ? self.words[0] : nil, environment)
        }

        func validate() throws {
            guard self.subject != nil else {
                throw ValidationError("Name the environment, sandbox or production: app retry sandbox --app APP")
            }
        }

        func run() async throws {
            guard let subject else { return }
            let settings = try await self.app.settings()
            let connection = try subject.app.map {
                APIConnection(client: try ProviderOptions.authenticated(settings), path: ["apps", $0])
            }
            let request = APIRequest(.post, ["environments", subject.environment.rawValue]).action("resume")
            let response = try await (try connection ?? AppOptions.connection(settings)).send(request)
            try self.app.print(response, EnvironmentStateText.of)
        }
    }

    /// `martlet app pause`: stops all sending of an app.
    struct Pause: ResourceCommand {
        static let configuration = command("pause")
            .help("Stop everything of an app, including urgent notifications, until it is resumed.")
            .example("app pause com.example.MyApp --reason 'wrong text in the campaign'")

        @OptionGroup var resource: ResourceOptions<App>
        @Option(help: "The reason, which is shown with the stop.") var reason: String?

        func request() -> APIRequest {
            self.resource.request(.post).action("pause").body(["reason": self.reason?.json])
        }

        func text(of response: JSONValue) -> String { "stopped \(App.stopped(response))\(response.underWay)" }
    }

    /// `martlet app resume`: resumes all sending of a paused app.
    enum Resume: ResourceAction {
        typealias Kind = App

        static let configuration = command("resume", "Send what waits, and everything from now on.")
            .example("app resume com.example.MyApp")

        static func text(of response: JSONValue) -> String { "it sends again" }
    }
}

/// `martlet app set`: changes the settings of an app.
struct AppSetCommand: ResourceCommand {
    static let configuration = command(
        "set",
        "Change its name, its rate, its receipts, its cap, or what its installations may write."
    )
    .example("app set com.example.MyApp --rate 2000 --cap 3/24h --installation-tag 'news.*'")

    @OptionGroup var resource: ResourceOptions<AppCommand.App>
    @Option(help: "The name in lists.") var name: String?
    @Option(
        parsing: .unconditional,
        help: "Pushes per second of all its campaigns together, \(AppCommand.App.rates)."
    ) var rate: Int?
    @Flag(help: "Remove the limit of pushes per second.") var noRate = false
    @Option(help: "\(AppCommand.App.receipts): the most detailed receipts that apps may send.")
    var receipts: String?
    @Option(help: "COUNT/WINDOW, the maximum number of notifications of a user, such as 3/24h. Urgent ones are exempt.")
    var cap: CapValue?
    @Flag(help: "Remove the cap.") var noCap = false
    @Option(help: "A tag that installations may write, or news.* for all that begin like that; repeat it for several.")
    var installationTag: [String] = []
    @Option(help: "An attribute that installations may write; repeat it for several.")
    var installationAttribute: [String] = []
    @Flag(help: "Let installations write no tags and no attributes any more.") var noInstallationNames = false

    func validate() throws {
        guard self.rate == nil || !self.noRate else { throw ValidationError("Give --rate or --no-rate, not both.") }
        guard self.cap == nil || !self.noCap else { throw ValidationError("Give --cap or --no-cap, not both.") }
        let names = self.installationTag + self.installationAttribute
        guard names.isEmpty || !self.noInstallationNames else {
            throw ValidationError("Give names for installations or --no-installation-names, not both.")
        }
        guard !self.members.isEmpty else {
            throw ValidationError(
                """
                Give what to change: --name, --rate, --no-rate, --receipts, --cap, --no-cap, --installation-tag, \
                --installation-attribute or --no-installation-names.
                """
            )
        }
    }

    private var members: [String: JSONValue] {
        let none: JSONValue? = self.noInstallationNames ? .null : nil
        let members: [String: JSONValue?] = [
            "name": self.name?.json, "rate": self.noRate ? .null : self.rate?.json,
            "receipts": self.receipts?.json, "cap": self.noCap ? .null : self.cap?.json,
            "installationTags": none ?? .texts(self.installationTag),
            "installationAttributes": none ?? .texts(self.installationAttribute),
        ]
        return members.compactMapValues { $0 }
    }

    func request() -> APIRequest { self.resource.request(.patch).body(self.members) }
}

/// The value of the option for a frequency cap, in the form `COUNT/WINDOW`.
struct CapValue: ExpressibleByArgument, Hashable, Sendable {
    let count: Int64
    let window: String

    /// Parses COUNT/WINDOW. Returns `nil` for any other argument. The provider checks the values.
    init?(argument: String) {
        let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Int64(parts[0]), !parts[1].isEmpty else { return nil }
        (self.count, self.window) = (count, String(parts[1]))
    }

    var json: JSONValue { ["count": .integer(self.count), "window": .string(self.window)] }
}

/// `martlet app user-secret`: manages the secrets with which an app's back end signs user proofs.
struct UserSecretCommand: AsyncParsableCommand {
    static let configuration = command("user-secret", "The secrets with which a back end proves an app's users.")
        .example("app user-secret add --app com.example.MyApp")
        .subcommands([List.self, Add.self, RemoveResource<UserSecret>.self])

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

/// Formats the states of an app's environments.
enum EnvironmentStateText {
    /// Returns one line for each environment of an app, with its state.
    static func lines(_ app: JSONValue) -> [String] { app["environmentStates"].elements.map(Self.of) }

    /// Returns the line for one environment: its state and its fault.
    static func of(_ environment: JSONValue) -> String {
        let name = environment["environment"].stringValue ?? ""
        return "\(name): \(Self.state(environment))".printable
    }

    /// Returns the description of the environments to which nothing can be sent, or `nil` if there is none.
    static func faults(_ object: JSONValue) -> String? {
        let faulty = object["environmentStates"].elements.filter { $0["state"].stringValue != "running" }
        return faulty.isEmpty ? nil : faulty.map(Self.fault).joined(separator: "; ")
    }

    /// Returns the description of an environment's fault, without times that change while the fault lasts.
    private static func fault(_ environment: JSONValue) -> String {
        let (name, state) = (environment["environment"].plainText, environment["state"].plainText)
        let text = "\(name) is \(state): \(environment["message"].plainText). \(environment["advice"].plainText)"
        return text.printable
    }

    private static func state(_ environment: JSONValue) -> String {
        let state = environment["state"].stringValue ?? "unknown"
        guard state != "running" else { return state }
        var text = "\(state) since \(environment["sinceMs"].timeText): \(environment["message"].plainText)."
        if let advice = environment["advice"].stringValue { text += " \(advice)" }
        if environment["nextTryMs"].integerValue != nil { text += " Next try \(environment["nextTryMs"].timeText)." }
        return text
    }
}
