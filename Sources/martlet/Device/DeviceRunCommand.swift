import ArgumentParser
import Logging
import PushDevice
import ServiceLifecycle

/// `martlet device run`: is a device.
struct DeviceRunCommand: AsyncParsableCommand {
    static let configuration = command("run", "Run a device: activate, connect to a gateway, print each notification.")
        .detail(
            """
            The first run activates a new device over the gateway's admin API and keeps its identity in a file; later \
            runs are the same device with the same device tokens.
            """
        )
        .detail("Notifications go to standard output, everything else to standard error. Ends on Ctrl-C.")
        .example("device --topic com.example.MyApp")

    @OptionGroup var common: CommonOptions
    @OptionGroup var flags: SettingFlags<DeviceSettings>
    @OptionGroup var admin: SettingFlags<GatewaySettings.Admin>
    @Flag(help: "One line of JSON per notification.") var json = false
    @Flag(help: "Print the device token of each app on standard output, and end.") var printToken = false

    func run() async throws {
        let settings = try await self.common.settings([self.flags, self.admin])
        var configuration = DeviceConfiguration.defaults
        DeviceSettings.apply(settings, to: &configuration)
        let proxy = try settings.proxy(DeviceSettings.proxy)
        configuration.proxy = proxy
        let topics = settings.strings(DeviceSettings.topics) ?? []
        let channels = try (settings.strings(DeviceSettings.channels) ?? []).map(FollowedChannel.init)
        let file = IdentityFile(path: settings.text(DeviceSettings.identity))
        let admin = GatewaySettings.Admin.url(settings)
        let name = settings.text(DeviceSettings.name)
        let log = LogConfiguration(settings, defaultLevel: .warning)
        try settings.check()
        guard !topics.isEmpty || !channels.isEmpty else {
            throw ValidationError("Name at least one app with --topic, or a channel with --channel.")
        }
        guard !self.printToken || !topics.isEmpty else {
            throw ValidationError("--print-token needs at least one app: add --topic.")
        }

        let activation = DeviceActivation(adminURL: admin, proxy: proxy)
        let identity = try await file.loadOrCreate { try await activation.activate(name: name) }
        let device = Device(identity: identity, configuration: configuration, logger: log.logger("device"))
        let printer = NotificationPrinter(
            device: device,
            topics: topics,
            channels: channels,
            file: file,
            asJSON: self.json,
            endsAfterTokens: self.printToken
        )
        try await ServiceRunner.run([device], until: printer, logger: log.logger("martlet"))
    }
}

/// A broadcast channel as the option names it: APP:ID.
struct FollowedChannel {
    /// The bundle id of the app.
    let app: String
    let id: String

    /// - Throws: ``SettingsError`` for a text without a colon.
    init(_ text: String) throws {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            throw SettingsError("device.channels: '\(text)' is not APP:ID, such as com.example.MyApp:dHN0LXNyY2g=")
        }
        (self.app, self.id) = (parts[0], parts[1])
    }
}
