import ArgumentParser
import ProviderModel
import PushSupport
import PushTypes

/// `martlet audience`: counts and shows the devices of an audience, and manages named audiences.
struct AudienceCommand: AsyncParsableCommand {
    static let configuration = command("audience", "The devices that an audience would reach, and named audiences.")
        .example("audience count --app com.example.MyApp --tag beta --locale de")
        .subcommands([
            Count.self, Preview.self, ListResources<Named>.self, ShowResource<Named>.self, Save.self,
            ShowVersions<Named>.self, RestoreVersion<Named>.self, RemoveResource<Named>.self,
        ])

    /// `martlet audience count`: counts the active devices of an audience.
    struct Count: RequestCommand {
        static let configuration = command("count", "Count the active devices of an audience.")
            .example(#"audience count --app com.example.MyApp --query '{"or":[{"tag":"a"},{"tag":"b"}]}'"#)

        @OptionGroup var access: AppOptions
        @OptionGroup var audience: AudienceOptions

        func request() throws -> APIRequest { .post("audience").action("count").body(try self.audience.members) }

        func text(of response: JSONValue) -> String { response["count"].plainText }
    }

    /// `martlet audience preview`: counts the active devices of an audience, and lists some devices.
    struct Preview: RequestCommand {
        static let configuration = command("preview", "Count the active devices, and list some, inactive ones too.")
            .example("audience preview --app com.example.MyApp --attribute plan=gold --limit 5")

        @OptionGroup var access: AppOptions
        @OptionGroup var audience: AudienceOptions
        @Option(help: "The maximum number of devices to show, \(AudienceRequest.preview["limit"].bounds).")
        var limit: Int = 10

        func request() throws -> APIRequest {
            let members = try self.audience.members.merging(["limit": self.limit.json]) { $1 }
            return .post("audience").action("preview").body(members)
        }

        func text(of response: JSONValue) -> String {
            let devices = response["devices"].elements
            let head = "\(response["count"].plainText) active"
            return devices.isEmpty ? head : "\(head)\n\n\(RegisteredDevice.columns.text(of: devices))"
        }
    }

    enum Named: LibraryResource {
        static let path = "audiences"
        static let id = ArgumentHelp("The audience's name, or its id.", valueName: "name")
        static let contents: TextTable = ["audience"]
        static let list = command("list", "List the named audiences of an app.")
            .example("audience list --app com.example.MyApp")
        static let show = command("show", "Show a named audience.")
            .example("audience show 'beta testers' --app com.example.MyApp")
        static let remove = command("remove", "Remove a named audience that no schedule uses.")
            .example("audience remove 'beta testers' --app com.example.MyApp")
        static let versions = command("versions", "List the versions of a named audience, newest first.")
            .example("audience versions 'beta testers' --app com.example.MyApp")
        static let restore = command("restore", "Make an earlier version the newest one again.")
            .example("audience restore 'beta testers' --to-version 3 --app com.example.MyApp")

        static func removed(_ name: String) -> String { "the audience is removed" }
    }

    /// `martlet audience save`: adds or replaces a named audience.
    struct Save: ResourceCommand {
        static let configuration = command("save", "Give an audience a name, or replace the audience of that name.")
            .example("audience save 'beta testers' --tag beta --app com.example.MyApp")

        @OptionGroup var resource: ResourceOptions<Named>
        @OptionGroup var conditions: AudienceConditions
        @OptionGroup var saved: SaveOptions

        func request() throws -> APIRequest {
            self.resource.request(.put)
                .body(self.saved.members.merging(["audience": try self.conditions.audience()]) { $1 })
        }
    }
}

/// The options for an audience, and for the environment and the kind of its tokens.
struct AudienceOptions: ParsableArguments {
    @OptionGroup var conditions: AudienceConditions
    @Option(help: "sandbox or production. Default: both.") var environment: PushEnvironment?
    @Option(help: "What the tokens are for, such as voip. Default: alert.") var kind: DeviceTokenKind?

    var members: [String: JSONValue?] {
        get throws {
            [
                "audience": try self.conditions.audience(), "environment": self.environment?.rawValue.json,
                "kind": self.kind?.rawValue.json,
            ]
        }
    }
}
