import ArgumentParser
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

    /// The apps of a provider.
    enum App: ProviderResource, ListableResource, ShowableResource, ErasableResource {
        static let path = "apps"
        static let id = ArgumentHelp("Its bundle id.", valueName: "bundle-id")
        static let columns: TextTable = [
            .init("bundle id", "bundleId"), "name", .init("credentials", "environments"), "rate", "receipts",
            .time("since", "createdAtMs"),
        ]
        static let list = command("list", "List all apps.").example("app list")
        static let show = command("show", "Show an app, and whether its pushes are sent.")
            .example("app show com.example.MyApp")

        /// The columns of a single app.
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

        /// Returns when, by whom and for what reason an app was stopped.
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
            help: "Pushes per second of all its campaigns together. Default: no limit."
        ) var rate: Int?
        @Option(
            help: "none, counts or device: the most detailed receipts that apps may send. Default: none."
        )
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

        /// The environment, and the app if it is named before it.
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

    /// `martlet app pause`: stops everything of an app.
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

    /// `martlet app resume`: lets a stopped app send again.
    enum Resume: ResourceAction {
        typealias Kind = App

        static let configuration = command("resume", "Send what waits, and everything from now on.")
            .example("app resume com.example.MyApp")

        static func text(of response: JSONValue) -> String { "it sends again" }
    }
}
