import Foundation
import MartletKit
import PushDevice
import PushTypes

/// The provider and the push service of a simulated phone, as settings name them.
struct PhoneConnection: Sendable {
    /// The provider, and the app with its public key.
    let app: MartletKit.Martlet.Configuration
    /// The address of the device link.
    let device: DeviceConfiguration
    /// The environment of the device tokens.
    let environment: PushTypes.PushEnvironment

    /// Reads the settings of a command, and checks all that were read before.
    /// - Throws: ``SettingsError`` that names the settings at fault.
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
