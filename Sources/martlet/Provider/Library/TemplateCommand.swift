import ArgumentParser
import PushSupport

/// `martlet template`: manages templates, which are named and versioned contents of notifications.
struct TemplateCommand: AsyncParsableCommand {
    static let configuration = command("template", "Contents of notifications, with names and versions.")
        .example("template save welcome welcome.json --app com.example.MyApp")
        .subcommands([
            ListResources<Template>.self, ShowResource<Template>.self, Save.self, ShowVersions<Template>.self,
            RestoreVersion<Template>.self, Preview.self, RemoveResource<Template>.self,
        ])

    enum Template: LibraryResource {
        static let path = "templates"
        static let id = ArgumentHelp("The template's name, or its id.", valueName: "name")
        static let contents: TextTable = ["content"]
        static let list = command("list", "List the templates of an app.")
            .example("template list --app com.example.MyApp")
        static let show = command("show", "Show the newest version of a template.")
            .example("template show welcome --app com.example.MyApp")
        static let remove = command("remove", "Remove a template that no schedule uses, with its versions.")
            .example("template remove welcome --app com.example.MyApp")
        static let versions = command("versions", "List the versions of a template, newest first.")
            .example("template versions welcome --app com.example.MyApp")
        static let restore = command("restore", "Make an earlier version the newest one again.")
            .example("template restore welcome --to-version 3 --app com.example.MyApp")

        static func removed(_ name: String) -> String { "the template is removed" }
    }

    /// `martlet template save`: adds a template, or a new version of an existing one.
    struct Save: ResourceCommand {
        static let configuration = command("save", "Add a template, or a version of the template of that name.")
            .example("template save welcome welcome.json --app com.example.MyApp")

        @OptionGroup var resource: ResourceOptions<Template>
        @Argument(help: "A file with the content as JSON, without the audience; '-' is standard input.")
        var file: String
        @OptionGroup var saved: SaveOptions

        func request() throws -> APIRequest {
            let content = JSONValue.object(try InputFile.object(self.file))
            return self.resource.request(.put).body(self.saved.members.merging(["content": content]) { $1 })
        }
    }

    /// `martlet template preview`: shows the payload that a device would receive.
    struct Preview: ResourceCommand {
        static let configuration = command("preview", "Show what a device or a user would get; sends nothing.")
            .example("template preview welcome --user alice --variable code=1234 --app com.example.MyApp")

        @OptionGroup var resource: ResourceOptions<Template>
        @Option(help: "The token of a registered device.") var device: String?
        @Option(help: "A user, for the user's first device.") var user: String?
        @Option(help: "The version; default: the newest.") var version: Int64?
        @Option(help: "NAME=VALUE: a variable of the template; repeat it for several.")
        var variable: [AttributeValue] = []

        func request() -> APIRequest {
            let variables = Dictionary(self.variable.map { ($0.name, $0.value) }) { $1 }
            return self.resource.request(.post).action("preview").body([
                "device": self.device?.json, "user": self.user?.json, "version": self.version.map { .integer($0) },
                "variables": variables.isEmpty ? nil : .object(variables),
            ])
        }

        func text(of response: JSONValue) throws -> String { try PreviewText.of(response) }
    }
}
