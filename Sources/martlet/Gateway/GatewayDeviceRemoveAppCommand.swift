import ArgumentParser
import PushTypes

struct GatewayDeviceRemoveAppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove-app",
        abstract: "Remove an app from a device: its token answers 410 from now on.",
        discussion: "Example: martlet gateway device remove-app 3F1C… com.example.MyApp --delay 60"
    )

    @OptionGroup var admin: AdminOptions
    @OptionGroup var device: DeviceArgument

    @Argument(help: "The app's topic.")
    var topic: String

    @Option(help: "sandbox or production. Default: both.")
    var environment: PushEnvironment?

    @Option(help: "Seconds until the token answers 410; Apple may take hours. Default: 0.")
    var delay: Int?

    func run() async throws {
        let request = APIRequest(
            .delete,
            ["devices", self.device.id, "topics", self.topic],
            query: [("environment", self.environment?.rawValue), ("delaySeconds", self.delay.map { "\($0)" })]
        )
        try await self.admin.show(request) { _ in "\(self.topic) is removed from \(self.device.id)" }
    }
}
