import Foundation
import MartletKit
import PushDevice
import PushTypes

extension DeviceConfiguration: SettingTarget {
    /// The default configuration of a device, with a gateway on this host.
    static var defaults: DeviceConfiguration { DeviceConfiguration() }
}

/// The settings of a device.
enum DeviceSettings: ConfigurationSection {
    /// The states of a device, which it reports when it connects (device link reference 3).
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

/// The settings that all commands with a phone have. Each command has its own set, in a separate section.
struct PhoneSettings: Sendable {
    let provider, publicKey, gateway, directory, environment, proxy: Setting

    /// Creates the settings for one command.
    /// - Parameter section: The first component of the settings' keys.
    init(_ section: String) {
        self.provider = Setting("\(section).provider", flag: "provider", default: "http://127.0.0.1:8080")
            .help("URL of the provider at which the app registers itself")
        self.publicKey = Setting("\(section).publicKey", flag: "public-key")
            .help("Public key of the app, mk_public_…, made with 'martlet key add --scope registerSelf'")
        self.gateway = Setting("\(section).gateway", flag: "gateway", default: "localhost:5223")
            .help("Address of the gateway's device link, as HOST:PORT")
        self.directory = Setting("\(section).directory", flag: "data-directory", default: "martlet-data/\(section)")
            .help("Folder that keeps the phone between two runs")
        self.environment = Setting.choice(
            "\(section).environment",
            flag: "environment",
            default: PushTypes.PushEnvironment.sandbox
        )
        .help("Environment of the device token, which is that of the gateway's listener")
        self.proxy = Setting("\(section).proxy", flag: "proxy", kind: .secret)
            .help("HTTP proxy, as http://[USER:PASSWORD@]HOST:PORT")
            .detail("It carries everything: the device link, the activation, the app's requests and its downloads.")
            .detail("MARTLET_\(section.uppercased())_PROXY hides the password from process lists.")
    }

    /// All of these settings, in the order of the documentation.
    var all: [Setting] { [self.provider, self.publicKey, self.gateway, self.directory, self.environment, self.proxy] }
}

/// The connections of a simulated phone to its provider and its push service, as the settings describe them.
struct PhoneConnection: Sendable {
    /// The URL of the provider, and the app with its public key.
    let app: MartletKit.Martlet.Configuration
    let device: DeviceConfiguration
    let environment: PushTypes.PushEnvironment

    /// Creates the connections from settings, and checks all settings that were read so far.
    /// - Throws: ``SettingsError`` that names the invalid settings.
    init(_ settings: SettingsReader, _ phone: PhoneSettings) throws {
        let (url, link) = (settings.text(phone.provider), settings.text(phone.gateway))
        if !APIClient.isURL(url) {
            settings.reject(phone.provider, "'\(url.printable)' is no URL such as http://127.0.0.1:8080")
        }
        let address = ServiceAddress(link)
        if address == nil { settings.reject(phone.gateway, "'\(link.printable)' is no HOST:PORT") }
        let proxy = try settings.proxy(phone.proxy)
        self.environment = settings.choice(phone.environment, default: PushTypes.PushEnvironment.sandbox)
        try settings.check()
        guard let app = settings.string(AppSettings.app), !app.isEmpty else {
            throw SettingsError("name the app: --app, MARTLET_API_APP or api.app", status: .usage)
        }
        guard let key = settings.string(phone.publicKey), !key.isEmpty else {
            let hint = "'martlet key add in-the-app --scope registerSelf --app \(app)' makes one"
            throw SettingsError("give the app's public key with --public-key: \(hint)", status: .usage)
        }
        guard let base = URL(string: url), let address else {
            throw SettingsError("\(phone.provider.key): '\(url.printable)' is no URL", status: .usage)
        }
        do {
            self.app = try MartletKit.Martlet.Configuration(provider: base, app: app, key: key)
        } catch {
            throw SettingsError("\(error)", status: .usage)
        }
        var device = DeviceConfiguration(host: address.host, port: address.port ?? DeviceConfiguration().port)
        device.proxy = proxy
        self.device = device
    }
}
