import ArgumentParser
import Foundation
import ProviderAPI
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

    /// The named audiences of an app.
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

/// The options that describe an audience, either as JSON or as conditions that must all be met.
struct AudienceConditions: ParsableArguments {
    @Option(help: "The audience as JSON.") var query: String?
    @Option(help: "A file with the audience as JSON; '-' is standard input.") var file: String?
    @Flag(help: "All devices of the app.") var all = false
    @Option(help: "Devices of one of these users; repeat it for several.") var user: [String] = []
    @Option(help: "Devices with this tag; repeat it if they must have several.") var tag: [String] = []
    @Option(help: "NAME=VALUE: devices with this attribute; repeat it if several must match.")
    var attribute: [AttributeValue] = []
    @Option(help: "Devices with this locale, such as de, which includes de-AT.") var locale: String?
    @Option(help: "Devices with at least this app version.") var atLeastVersion: String?
    @Option(help: "Devices below this app version.") var belowVersion: String?
    @Option(help: "Devices in this time zone, such as Europe/Berlin.") var timeZone: String?
    @Option(help: "Devices with a token of this Live Activity, by the app's id for it.") var activity: String?
    @Option(help: "Devices that registered within this number of days.") var seenWithinDays: Int?
    @Option(help: "Devices in this named audience.") var named: String?

    /// The conditions that the options describe, each as a JSON object.
    private var conditions: [JSONValue] {
        var conditions: [JSONValue] = []
        func add(_ name: String, _ value: JSONValue?) { if let value { conditions.append([name: value]) } }
        if self.user.count > 1 {
            add("users", .texts(self.user))
        } else {
            add("user", self.user.first?.json)
        }
        for tag in self.tag { add("tag", tag.json) }
        for attribute in self.attribute {
            conditions.append(["attribute": attribute.name.json, "is": attribute.value])
        }
        add("named", self.named?.json)
        add("activity", self.activity?.json)
        add("locale", self.locale?.json)
        let versions = ["atLeast": self.atLeastVersion?.json, "below": self.belowVersion?.json].compactMapValues { $0 }
        add("appVersion", versions.isEmpty ? nil : .object(versions))
        add("timeZone", self.timeZone?.json)
        add("lastSeen", self.seenWithinDays.map { ["withinDays": $0.json] })
        return conditions
    }

    /// Returns the audience, which must be specified in exactly one way: `--query`, `--file`, `--all` or conditions.
    func audience() throws -> JSONValue {
        let conditions = self.conditions
        let given = [self.query != nil, self.file != nil, self.all, !conditions.isEmpty]
        guard given.count(where: { $0 }) == 1 else {
            throw ValidationError("Name the audience: --query, --file, --all, or conditions such as --tag.")
        }
        if let query { return .object(try InputFile.object(Data(query.utf8), named: "--query")) }
        if let file { return .object(try InputFile.object(file)) }
        if self.all { return ["all": true] }
        if let only = conditions.first, conditions.count == 1 { return only }
        return ["and": .array(conditions)]
    }
}
