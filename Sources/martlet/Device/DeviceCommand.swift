import ArgumentParser
import Foundation
import Logging
import PushDevice
import PushSupport
import ServiceLifecycle

/// `martlet device`: runs a device, or manages the devices of a provider.
struct DeviceCommand: AsyncParsableCommand {
    static let configuration = command("device")
        .help("Run a device that connects to a gateway and prints notifications; or manage a provider's devices.")
        .detail("Without a subcommand it runs a device, with the options that 'martlet device run --help' shows.")
        .detail("All other subcommands talk to a running provider about the devices that are registered there.")
        .example("device list --app com.example.MyApp --user alice")
        .subcommands([
            DeviceRunCommand.self, ListResources<RegisteredDevice>.self, ShowResource<RegisteredDevice>.self,
            DeviceAddCommand.self, DeviceRemoveCommand.self, ShowHistory<RegisteredDevice>.self,
            DeviceImportCommand.self, DeviceExportCommand.self, DeviceReactivateCommand.self,
        ])
        .defaultSubcommand(DeviceRunCommand.self)
}

/// `martlet device run`: runs a device.
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
        let channels = try (settings.strings(DeviceSettings.channels) ?? []).map(ChannelOption.init)
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

/// The value of the option for a broadcast channel, in the form `APP:ID`.
private struct ChannelOption {
    let app: String
    let id: String

    /// Parses the value of the option.
    /// - Throws: ``SettingsError`` for a value without a colon.
    init(_ text: String) throws {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            throw SettingsError("device.channels: '\(text)' is not APP:ID, such as com.example.MyApp:dHN0LXNyY2g=")
        }
        (self.app, self.id) = (parts[0], parts[1])
    }
}

/// Prints a device's tokens to standard error and its notifications to standard output. If only the tokens are
/// requested, it prints them to standard output.
private struct NotificationPrinter: Service {
    let device: Device
    let topics: [String]
    let channels: [ChannelOption]
    /// The file that stores the tokens and channels for the next run.
    let file: IdentityFile
    let asJSON: Bool
    /// A Boolean value that indicates whether only the tokens are printed, instead of notifications as they arrive.
    let endsAfterTokens: Bool

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await self.printAll() }
        } catch is CancellationError {
            // Ctrl-C may interrupt the wait for a token.
        }
    }

    private func printAll() async throws {
        for topic in self.topics {
            let token = try await self.device.deviceToken(for: topic)
            if self.endsAfterTokens {
                try StandardOutput.result(token)
            } else {
                StandardError.line("device token for \(topic): \(token)")
            }
        }
        for channel in self.channels { try await self.device.follow(channel: channel.id, of: channel.app) }
        try self.file.save(self.device.identity)
        guard !self.endsAfterTokens else { return }
        StandardError.line("waiting for notifications; Ctrl-C ends")
        for await notification in self.device.notifications {
            let text = self.asJSON ? try NotificationText.json(notification) : NotificationText.plain(notification)
            StandardOutput.line(text)
        }
    }
}

private enum NotificationText {
    /// Returns a notification as lines of text: the topic and the push type, the fields of the alert, and the payload.
    static func plain(_ notification: ReceivedNotification) -> String {
        let time = notification.sentAt.iso8601Text
        var lines = ["── \(time) \(notification.topic ?? "unknown topic") \(notification.pushType ?? "")"]
        let alert = (try? JSONValue(parsing: notification.payload))?["aps"]["alert"] ?? .null
        let body = alert["body"].stringValue ?? alert.stringValue
        for (name, text) in [
            ("title", alert["title"].stringValue), ("subtitle", alert["subtitle"].stringValue), ("body", body),
        ] {
            if let text { lines.append("   \(name): \(text.printable)") }
        }
        lines.append("   payload: \(String(decoding: notification.payload, as: UTF8.self).printable)")
        if let id = notification.apnsID { lines.append("   apns-id: \(id.printable)") }
        if let channel = notification.channelID { lines.append("   broadcast on channel: \(channel.printable)") }
        return lines.joined(separator: "\n")
    }

    /// Returns a notification as one line of JSON. A payload that is not JSON is included as a string.
    static func json(_ notification: ReceivedNotification) throws -> String {
        try JSONValue.members([
            "deviceToken": notification.deviceToken.json, "sentAt": notification.sentAt.iso8601Text.json,
            "payload": (try? JSONValue(parsing: notification.payload))
                ?? String(decoding: notification.payload, as: UTF8.self).json,
            "topic": notification.topic?.json, "apnsId": notification.apnsID?.json,
            "pushType": notification.pushType?.json, "priority": notification.priority?.json,
            "collapseId": notification.collapseID?.json, "channelId": notification.channelID?.json,
        ]).line
    }
}

/// The file of a device's identity, which only its owner can read.
struct IdentityFile: Sendable {
    let path: String

    /// Returns the identity in the file. If there is no file, calls `activate` for a new identity and saves it.
    /// - Throws: ``SettingsError`` for a file without an identity, or one that cannot be written. Errors of `activate`
    ///   are passed on.
    func loadOrCreate(_ activate: () async throws -> DeviceIdentity) async throws -> DeviceIdentity {
        if FileManager.default.fileExists(atPath: self.path) {
            do {
                let content = try Data(contentsOf: URL(filePath: self.path))
                return try JSONDecoder().decode(DeviceIdentity.self, from: content)
            } catch {
                let cause = ErrorDescription.of(error)
                throw SettingsError(
                    "\(self.path) has no device identity (remove it to activate a new device): \(cause)"
                )
            }
        }
        let identity = try await activate()
        try self.save(identity)
        return identity
    }

    /// Replaces the file durably, so that the new identity survives a power failure.
    /// - Throws: ``SettingsError`` if the file cannot be written.
    func save(_ identity: DeviceIdentity) throws {
        let directory = URL(filePath: self.path).deletingLastPathComponent().path
        if !FileManager.default.fileExists(atPath: directory) { _ = DurableFile.makePrivateFolder(directory) }
        guard DurableFile.replace(self.path, Array(try JSONEncoder().encode(identity))) else {
            throw SettingsError("\(self.path) cannot be written: \(DurableFile.lastError)")
        }
    }
}
