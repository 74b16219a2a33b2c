import AppSimulator
import Foundation
import MartletKit
import PushDevice

/// The settings of the app simulator.
enum SimulatorSettings: SettingSection {
    static let phone = PhoneSettings("simulator")
    static let userProof = Setting("simulator.userProof", flag: "user-proof", kind: .secret)
        .help("Proof of the user (a JWT) with which the app logs in")
    static let routes = Setting("simulator.routes", flag: "routes")
        .help("Rule file of the screens that notifications open")
    static let categories = Setting("simulator.categories", flag: "categories")
        .help("JSON file of the notification categories with their actions")
    static let locale = Setting("simulator.locale", flag: "locale")
        .help("Language of the phone, such as pt-BR; by default the system's")
    static let timeZone = Setting("simulator.timeZone", flag: "time-zone")
        .help("Time zone of the phone, such as Europe/Berlin; by default the system's")
    static let appVersion = Setting("simulator.appVersion", flag: "app-version")
        .help("Version of the app, such as 2.10.1")

    static let settings = phone.all + [userProof, routes, categories, locale, timeZone, appVersion]

    /// Creates the configuration of a simulator from the settings.
    /// - Throws: ``SettingsError`` that names the invalid settings.
    static func configuration(_ settings: SettingsReader) throws -> SimulatorConfiguration {
        let zone = settings.string(self.timeZone)
        if let zone, TimeZone(identifier: zone) == nil {
            settings.reject(self.timeZone, "'\(zone.printable)' is no time zone such as Europe/Berlin")
        }
        let phone = try PhoneConnection(settings, self.phone)
        var configuration = SimulatorConfiguration(
            app: phone.app.app,
            provider: phone.app.provider,
            publicKey: phone.app.key,
            device: phone.device
        )
        configuration.environment = phone.environment
        configuration.transport = HTTPClientTransport(proxy: phone.device.proxy)
        configuration.userProof = settings.string(self.userProof)
        (configuration.locale, configuration.timeZone) = (settings.string(self.locale), zone)
        configuration.appVersion = settings.string(self.appVersion)
        try self.readFiles(settings, &configuration)
        return configuration
    }

    /// Reads the files that the settings specify into the configuration.
    /// - Throws: ``SettingsError`` for a file that cannot be used.
    private static func readFiles(_ settings: SettingsReader, _ configuration: inout SimulatorConfiguration) throws {
        if let path = settings.string(self.categories) {
            let data = try InputFile.data(path, for: self.categories.key, maximum: 1024 * 1024)
            configuration.categories = try self.naming(self.categories) { try NotificationCategory.list(parsing: data) }
        }
        if let path = settings.string(self.routes) {
            let data = try InputFile.data(path, for: self.routes.key, maximum: 1024 * 1024)
            _ = try self.naming(self.routes) { try ScreenRouter(rules: data) }
            configuration.routes = data
        }
    }

    /// Performs `body`, and adds the key of the setting to an error that it throws.
    private static func naming<Value>(_ setting: Setting, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as PhoneError {
            throw SettingsError("\(setting.key): \(error)", status: .usage)
        }
    }
}
