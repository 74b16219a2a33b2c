import AppSimulator
import Foundation
import MartletKit
import PushDevice

/// The settings of the simulated reader with a publisher's app.
enum ReaderSettings: SettingSection {
    static let phone = PhoneSettings("reader")
    static let registrationKey = Setting("reader.registrationKey", flag: "registration-key", kind: .secret)
        .help("Key in the address of the registration form; without it the account must be listed")
    static let account = Setting("reader.account", flag: "account")
        .help("Publisher's account of the registration and the catalogue")
    static let authToken = Setting("reader.authToken", flag: "auth-token", kind: .secret)
        .help("Token of the publisher's own server, for the entitlement")
    static let transactions = Setting("reader.transactions", flag: "transactions", kind: .list)
        .help("File with a signed transaction of the app store; repeat it for several")
    static let screen = Setting("reader.screen", flag: "screen", default: "2048x1536")
        .help("Size of the screen in pixels")
    static let denied = Setting("reader.denied", flag: "deny", kind: .list)
        .help("One of what the user does not allow: alert, badge, sound or newsstand; repeat it for several")
    static let isDevelopment = Setting("reader.development", flag: "development", kind: .toggle)
        .help("Act as a development build, which also gets products that begin with 'dev_test.'")
    static let network = Setting.choice("reader.network", flag: "network", default: ReaderNetwork.wifi)
        .help("Network at the start; a push that comes without Wi-Fi is lost")
    static let connections = Setting(
        "reader.connections",
        flag: "connections",
        kind: .integer(1...10_000),
        default: "64"
    )
    .help("Requests and downloads at a time of many readers")

    static let settings =
        phone.all + [
            registrationKey, account, authToken, transactions, screen, denied, isDevelopment, network, connections,
        ]

    private static let deniable: [String: Capabilities] = [
        "alert": .alert, "badge": .badge, "sound": .sound, "newsstand": .background,
    ]

    /// Creates the configuration of a reader from the settings.
    /// - Throws: ``SettingsError`` that names the invalid settings.
    static func configuration(
        _ settings: SettingsReader
    ) throws -> (reader: ReaderConfiguration, phone: PhoneConnection) {
        let network = settings.choice(self.network, default: ReaderNetwork.wifi)
        let screen = settings.text(self.screen)
        if screen.wholeMatch(of: #/[0-9]{3,5}x[0-9]{3,5}/#) == nil {
            settings.reject(self.screen, "'\(screen.printable)' is no size such as 2048x1536")
        }
        let denied = settings.strings(self.denied) ?? []
        for name in denied where self.deniable[name] == nil {
            settings.reject(self.denied, "'\(name.printable)' is none of alert, badge, sound, newsstand")
        }
        let phone = try PhoneConnection(settings, self.phone)
        var configuration = ReaderConfiguration(app: phone.app)
        configuration.registrationKey = settings.string(self.registrationKey)
        configuration.account = settings.string(self.account)
        configuration.proof = PurchaseProof(
            transactions: try (settings.strings(self.transactions) ?? []).map { path in
                let text = try InputFile.text(path, for: self.transactions.key)
                return text.trimmingCharacters(in: .whitespacesAndNewlines)
            },
            account: settings.string(self.account),
            authToken: settings.string(self.authToken)
        )
        configuration.screenSize = screen
        (configuration.environment, configuration.network) = (phone.environment, network)
        for name in denied { configuration.capabilities.subtract(self.deniable[name] ?? []) }
        configuration.rules.isDevelopment = settings.isOn(self.isDevelopment)
        configuration.transport = HTTPClientTransport(proxy: phone.device.proxy)
        return (configuration, phone)
    }
}
