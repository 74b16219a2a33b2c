import ArgumentParser
import PushSupport

/// `martlet app`: manages the apps of a provider.
struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "app",
        "The apps that a provider sends for.",
        example: "app add com.example.MyApp --name 'My App'",
        subcommands: [ListResources<App>.self, ShowResource<App>.self, Add.self, Set.self]
    )

    /// The apps of a provider.
    enum App: ListedResource, ShownResource {
        typealias ListAccess = ProviderOptions
        typealias Access = ProviderOptions

        static let path = ["apps"]
        static let id = ArgumentHelp("Its bundle id.", valueName: "bundle-id")
        static let columns: [TextTable.Column] = [
            .init("bundle id", "bundleId"), .init("name", "name"), .init("credentials", "environments"),
            .init("rate", "rate"), .init("since", "createdAtMs", .time),
        ]
        static let list = CommandConfiguration("list", "List all apps.", example: "app list")
        static let show = CommandConfiguration("show", "Show an app.", example: "app show com.example.MyApp")

        static func details(_ response: JSONValue) -> String { TextTable.details(self.columns, response) }
    }

    /// `martlet app add`: adds an app.
    struct Add: RequestCommand {
        static let configuration = CommandConfiguration("add", "Add an app; nothing happens if it exists already.")
            .example("app add com.example.MyApp --name 'My App'")

        @OptionGroup var access: ProviderOptions
        @OptionGroup var app: ResourceID<App>
        @Option(help: "Its name in lists.") var name: String?
        @Option(help: "Pushes per second of all its campaigns together. Default: as fast as possible.") var rate: Int?

        var request: APIRequest {
            let body = ["bundleId": self.app.id.json, "name": self.name?.json, "rate": self.rate?.json]
            return APIRequest(.post, App.path, body: body)
        }

        func text(of response: JSONValue) -> String { App.details(response) }
    }

    /// `martlet app set`: changes the name or the rate of an app.
    struct Set: RequestCommand {
        static let configuration = CommandConfiguration("set", "Change its name or its rate.")
            .example("app set com.example.MyApp --rate 2000")

        @OptionGroup var access: ProviderOptions
        @OptionGroup var app: ResourceID<App>
        @Option(help: "Its name in lists.") var name: String?
        @Option(help: "Pushes per second of all its campaigns together.") var rate: Int?
        @Flag(help: "As fast as possible again.") var noRate = false

        func validate() throws {
            guard self.rate == nil || !self.noRate else { throw ValidationError("Give --rate or --no-rate, not both.") }
            guard self.name != nil || self.rate != nil || self.noRate else {
                throw ValidationError("Give what to change: --name, --rate or --no-rate.")
            }
        }

        var request: APIRequest {
            let body = ["name": self.name?.json, "rate": self.noRate ? JSONValue.null : self.rate?.json]
            return self.app.request(.patch, body: body)
        }

        func text(of response: JSONValue) -> String { App.details(response) }
    }
}
