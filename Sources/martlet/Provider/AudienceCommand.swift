import ArgumentParser
import PushSupport

/// `martlet audience`: counts and shows the devices of an audience.
struct AudienceCommand: AsyncParsableCommand {
    static let configuration = command("audience", "The devices that an audience would reach.")
        .example("audience count --app com.example.MyApp --tag beta --locale de")
        .subcommands([Count.self, Preview.self])

    /// `martlet audience count`: counts the active devices of an audience.
    struct Count: RequestCommand {
        static let configuration = command("count", "Count the active devices of an audience.")
            .example(#"audience count --app com.example.MyApp --query '{"or":[{"tag":"a"},{"tag":"b"}]}'"#)

        @OptionGroup var access: AppOptions
        @OptionGroup var audience: AudienceOptions

        func request() throws -> APIRequest { .post("audience").action("count").body(try self.audience.members) }

        func text(of response: JSONValue) -> String { response["count"].plainText }
    }

    /// `martlet audience preview`: counts the active devices and lists some.
    struct Preview: RequestCommand {
        static let configuration = command("preview", "Count the active devices, and list some, inactive ones too.")
            .example("audience preview --app com.example.MyApp --attribute plan=gold --limit 5")

        @OptionGroup var access: AppOptions
        @OptionGroup var audience: AudienceOptions
        @Option(help: "The most devices to show, up to 1000.") var limit: Int = 10

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
}
