import ArgumentParser
import Foundation
import Logging
import PushDevice
import ServiceLifecycle

struct DeviceRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Be a device: activate, connect to a gateway, print each notification.",
        discussion: """
            The first run activates a new device at the gateway's admin door and keeps its identity in a file; later \
            runs are the same device with the same device tokens. Notifications go to standard output, everything else \
            to standard error. Ends on Ctrl-C.

            Example: martlet device --topic com.example.MyApp
            """
    )

    enum State: String, CaseIterable {
        case active
        case inactive
    }

    @OptionGroup var common: CommonOptions

    @Option(help: "The app to receive for, as its topic; repeat it for several (device.topics).")
    var topic: [String] = []

    @Option(help: "A broadcast channel to follow, as APP:ID with the id in base64; repeat it (device.channels).")
    var channel: [String] = []

    @Option(help: "active or inactive: one that is not in use gets less urgent pushes later (device.state).")
    var state: String?

    @Option(help: "Gateway's courier door (device.host; default: localhost).")
    var host: String?

    @Option(help: "Its port (device.port; default: 5223).")
    var port: Int?

    @Option(help: "Gateway's admin door, for the activation (device.admin; default: http://127.0.0.1:2198).")
    var admin: String?

    @Option(help: "File that keeps the identity (device.identity; default: martlet-data/device.json).")
    var identity: String?

    @Option(help: "How the gateway's lists call the device (device.name; default: Martlet device).")
    var name: String?

    @Flag(help: "One line of JSON per notification.")
    var json = false

    func run() async throws {
        let settings = try await self.common.settings([
            "device.topics": self.topic.setting(), "device.host": self.host.setting(),
            "device.port": self.port.setting(), "device.admin": self.admin.setting(),
            "device.identity": self.identity.setting(), "device.name": self.name.setting(),
            "device.channels": self.channel.setting(), "device.state": self.state.setting(),
        ])
        var configuration = DeviceConfiguration(
            host: settings.string("device.host", default: "localhost"),
            port: settings.port("device.port", default: 5223)
        )
        configuration.isActive = settings.choice("device.state", default: State.active) == .active
        let topics = settings.strings("device.topics") ?? []
        let channels = try (settings.strings("device.channels") ?? []).map(FollowedChannel.init)
        let file = IdentityFile(path: settings.string("device.identity", default: "martlet-data/device.json"))
        let admin = settings.string("device.admin", default: "http://127.0.0.1:2198")
        let name = settings.string("device.name", default: "Martlet device")
        let log = LogSetup(settings, defaultLevel: .warning)
        try settings.check()
        guard !topics.isEmpty || !channels.isEmpty else {
            throw ValidationError("Name at least one app with --topic, or a channel with --channel.")
        }

        let identity = try await file.loadOrCreate {
            try await DeviceActivation(adminURL: admin).activate(name: name)
        }
        let device = Device(identity: identity, configuration: configuration, logger: log.logger("device"))
        let printer = NotificationPrinter(
            device: device,
            topics: topics,
            channels: channels,
            file: file,
            asJSON: self.json
        )
        try await ServiceRun.run([device], endsWith: printer, logger: log.logger("martlet"))
    }
}
