import ArgumentParser

struct GatewayDeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "The devices of a gateway. ('martlet device' is one.)",
        discussion: "Example: martlet gateway device list --online",
        subcommands: [
            GatewayDeviceListCommand.self, Show.self, GatewayDeviceAddCommand.self, GatewayDeviceReinstallCommand.self,
            GatewayDeviceRestoreCommand.self, Revoke.self, Disconnect.self, Remove.self,
            GatewayDeviceRemoveAppCommand.self,
        ]
    )

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show one with its device tokens.",
            discussion: "Example: martlet gateway device show 3F1C… --json"
        )

        @OptionGroup var admin: AdminOptions
        @OptionGroup var device: DeviceArgument

        func run() async throws {
            try await self.admin.show(APIRequest(.get, ["devices", self.device.id]), DeviceText.details)
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke its certificate: it cannot connect any more; its tokens stay registered.",
            discussion: "Example: martlet gateway device revoke 3F1C…"
        )

        @OptionGroup var admin: AdminOptions
        @OptionGroup var device: DeviceArgument

        func run() async throws {
            let request = APIRequest(.delete, ["devices", self.device.id, "certificate"])
            try await self.admin.show(request) { _ in "the certificate of \(self.device.id) is revoked" }
        }
    }

    struct Disconnect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End its connections; it may come again at once.",
            discussion: "Example: martlet gateway device disconnect 3F1C…"
        )

        @OptionGroup var admin: AdminOptions
        @OptionGroup var device: DeviceArgument

        func run() async throws {
            let request = APIRequest(.post, ["devices", self.device.id, "disconnect"])
            try await self.admin.show(request) { "\($0["connections"].integerValue ?? 0) connection(s) ended" }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete it: its tokens answer 410 from now on.",
            discussion: "Example: martlet gateway device remove 3F1C…"
        )

        @OptionGroup var admin: AdminOptions
        @OptionGroup var device: DeviceArgument

        func run() async throws {
            try await self.admin.show(APIRequest(.delete, ["devices", self.device.id])) { _ in
                "\(self.device.id) is deleted"
            }
        }
    }
}

/// Names a device.
struct DeviceArgument: ParsableArguments {
    @Argument(help: "The device's id.")
    var id: String
}
