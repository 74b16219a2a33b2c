import ArgumentParser
import PushSupport
import PushTypes

/// `martlet gateway device`: manages the devices of a gateway.
struct GatewayDeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "device",
        "The devices of a gateway. ('martlet device' is one.)",
        example: "gateway device list --online",
        subcommands: [
            List.self, ShowResource<GatewayDevice>.self, GatewayDeviceAddCommand.self,
            GatewayDeviceReinstallCommand.self, GatewayDeviceRestoreCommand.self, Revoke.self, Disconnect.self,
            RemoveResource<GatewayDevice>.self, RemoveApp.self,
        ]
    )

    /// `martlet gateway device list`: lists devices.
    struct List: ListCommand {
        static let configuration = CommandConfiguration("list", "List devices, oldest first.")
            .example("gateway device list --topic com.example.MyApp --online")
        static let member = "devices"
        static let columns: [TextTable.Column] = [
            .init("device", "deviceId"), .init("name", "name"), .init("online", "online"), .init("revoked", "revoked"),
            .init("last seen", "lastSeenAt", .time), .init("topics", "topics"),
        ]

        @OptionGroup var access: AdminOptions
        @Flag(inversion: .prefixedNo, help: "Only those that are connected, or are not.") var online: Bool?
        @Option(help: "Only those with this app.") var topic: String?
        @Option(help: "Only those with this in their name.") var name: String?
        @Option(help: "The most entries to show.") var limit: Int?

        var request: APIRequest {
            let query = [("online", self.online.map { "\($0)" }), ("topic", self.topic), ("name", self.name)]
            return APIRequest(.get, GatewayDevice.path, query: query)
        }
    }

    /// `martlet gateway device revoke`: revokes the certificate of a device.
    struct Revoke: RequestCommand {
        static let configuration = CommandConfiguration(
            "revoke",
            "Revoke its certificate: it cannot connect any more; its tokens stay registered.",
            example: "gateway device revoke 3F1C…"
        )

        @OptionGroup var access: AdminOptions
        @OptionGroup var device: ResourceID<GatewayDevice>

        var request: APIRequest { self.device.request(.delete, ["certificate"]) }

        func text(of response: JSONValue) -> String { "the certificate of \(self.device.id) is revoked" }
    }

    /// `martlet gateway device disconnect`: ends the connections of a device.
    struct Disconnect: RequestCommand {
        static let configuration = CommandConfiguration(
            "disconnect",
            "End its connections; it may connect again at once.",
            example: "gateway device disconnect 3F1C…"
        )

        @OptionGroup var access: AdminOptions
        @OptionGroup var device: ResourceID<GatewayDevice>

        var request: APIRequest { self.device.request(.post, ["disconnect"]) }

        func text(of response: JSONValue) -> String {
            "\(response["connections"].integerValue ?? 0) connection(s) ended"
        }
    }

    /// `martlet gateway device remove-app`: removes an app from a device.
    struct RemoveApp: RequestCommand {
        static let configuration = CommandConfiguration(
            "remove-app",
            "Remove an app from a device: its token is answered with 410 from now on.",
            example: "gateway device remove-app 3F1C… com.example.MyApp --delay 60"
        )

        @OptionGroup var access: AdminOptions
        @OptionGroup var device: ResourceID<GatewayDevice>
        @Argument(help: "The app's topic.") var topic: String
        @Option(help: "sandbox or production. Default: both.") var environment: PushEnvironment?
        @Option(help: "Seconds until the token is answered with 410; Apple may take hours. Default: 0.") var delay: Int?

        var request: APIRequest {
            self.device.request(
                .delete,
                ["topics", self.topic],
                query: [("environment", self.environment?.rawValue), ("delaySeconds", self.delay.map { "\($0)" })]
            )
        }

        func text(of response: JSONValue) -> String { "\(self.topic) is removed from \(self.device.id)" }
    }
}

/// The devices of a gateway.
enum GatewayDevice: ShownResource, RemovedResource {
    typealias Access = AdminOptions

    static let path = ["devices"]
    static let id = ArgumentHelp("The device's id.")
    static let show = CommandConfiguration("show", "Show a device with its device tokens.")
        .example("gateway device show 3F1C… --json")
    static let remove = CommandConfiguration("remove", "Delete a device: its tokens are answered with 410 from now on.")
        .example("gateway device remove 3F1C…")

    static func removed(_ id: String) -> String { "\(id) is deleted" }

    static func details(_ device: JSONValue) -> String {
        let head = TextTable.details(
            [
                .init("device", "deviceId"), .init("name", "name"), .init("activated", "activatedAt", .time),
                .init("last seen", "lastSeenAt", .time), .init("certificate", "certificateSerial"),
                .init("revoked", "revokedAt", .time), .init("epoch", "epoch"),
            ],
            device
        )
        let connections = TextTable(
            [
                .init("environment", "environment"), .init("online", "online"), .init("in use", "active"),
                .init("unacknowledged", "unacknowledged"), .init("channels", "channels"),
            ],
            device["connections"].elements
        )
        let installs = device["installs"].elements
        guard !installs.isEmpty else { return "\(head)\n\n\(connections.text)\n\nno apps" }
        let apps = TextTable(
            [
                .init("topic", "topic"), .init("environment", "environment"), .init("generation", "generation"),
                .init("minted", "mintedAt", .time), .init("ended", "endedAt", .time), .init("token", "token"),
            ],
            installs
        )
        return "\(head)\n\n\(connections.text)\n\n\(apps.text)"
    }
}
