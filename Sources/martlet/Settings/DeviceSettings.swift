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
    static let identity = Setting("device.identity", flag: "identity", default: "martlet-data/device.json")
        .help("File that keeps the identity")
    static let name = Setting("device.name", flag: "name", default: "Martlet device")
        .help("Name of the device in the gateway's lists")
    static let proxy = Setting("device.proxy", flag: "proxy", kind: .secret)
        .help("HTTP proxy, as http://[USER:PASSWORD@]HOST:PORT")
        .detail("It must allow CONNECT to the device link, and to the admin API for the activation.")
        .detail("MARTLET_DEVICE_PROXY hides the password from process lists.")
    static let fallbackPort = Setting("device.fallbackPort", flag: "fallback-port", kind: .integer(1...65_535))
        .help("Port to try when the device link cannot be reached on its own port, such as 443")
    private static let state = Setting.choice("device.state", flag: "state", default: State.active)
        .help("State of the device; an inactive one, which is not in use, gets less urgent pushes later")

    static let rows: [SettingRow<DeviceConfiguration>] = [
        SettingRow(topics), SettingRow(channels),
        SettingRow(state) { $1.isActive = $0.choice(state, default: State.active) == .active },
        .text("device.host", flag: "host", \.host)
            .help("Host of the gateway's device link"),
        .integer("device.port", flag: "port", 0...65_535, \.port)
            .help("Port of the gateway's device link"),
        SettingRow(fallbackPort) { $1.fallbackPort = $0.integer(fallbackPort) },
        SettingRow(proxy), SettingRow(identity), SettingRow(name),
    ]
}
