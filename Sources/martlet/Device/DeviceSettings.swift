import PushDevice

extension DeviceConfiguration: SettingTarget {
    /// A device of a gateway on this host.
    static var defaults: DeviceConfiguration { DeviceConfiguration() }
}

/// The settings of a device.
enum DeviceSettings: ConfigurationSection {
    /// The two states of a device (device link reference 3).
    enum State: String, CaseIterable { case active, inactive }

    static let topics = Setting("device.topics", flag: "topic", kind: .list)
        .help("The app to receive for, as its topic; repeat it for several")
    static let channels = Setting("device.channels", flag: "channel", kind: .list)
        .help("A broadcast channel to follow, as APP:ID with the id in base64; repeat it for several")
    static let admin = Setting("device.admin", flag: "admin", default: GatewaySettings.Admin.url.defaultText)
        .help("The gateway's admin API, for the activation")
    static let identity = Setting("device.identity", flag: "identity", default: "martlet-data/device.json")
        .help("File that keeps the identity")
    static let name = Setting("device.name", flag: "name", default: "Martlet device")
        .help("Name of the device in the gateway's lists")
    private static let state = Setting.choice("device.state", flag: "state", default: State.active)
        .help("Whether the device is in use; an inactive one gets less urgent pushes later")

    static let rows: [SettingRow<DeviceConfiguration>] = [
        SettingRow(topics), SettingRow(channels),
        SettingRow(state) { $1.isActive = $0.choice(state, default: State.active) == .active },
        .text("device.host", flag: "host", \.host)
            .help("Host of the gateway's device link"),
        .integer("device.port", flag: "port", 0...65_535, \.port)
            .help("Port of the gateway's device link"),
        SettingRow(admin), SettingRow(identity), SettingRow(name),
    ]
}
