import ProviderAPI
import PushTypes

extension ServeSettings {
    /// The apps that may register devices through the forms of older systems.
    enum Compatibility: SettingSection {
        private typealias FormAccess = CompatibilityConfiguration.FormAccess

        static let doors = Setting("serve.compatibility.doors", flag: "door", kind: .list)
            .secret()
            .help("APP=KEY: opens the forms of older systems for an app; repeat it")
            .detail(
                """
                The key is a part of the path and has at least 16 letters, digits, hyphens or underscores \
                ([compatibility.md](compatibility.md)).
                """
            )
        static let accounts = Setting("serve.compatibility.accounts", flag: "account", kind: .list)
            .help("APP=ACCOUNT: opens the publisher's form for an account; repeat it")
            .detail("The form is accepted from this account without the key.")

        static let settings = [doors, accounts]

        /// Returns the configuration of the compatibility forms.
        /// - Throws: ``SettingsError`` that names the setting, never a key.
        static func configuration(_ settings: SettingsReader) throws -> CompatibilityConfiguration {
            let keys = try self.pairs(self.doors, settings)
            let accounts = try self.pairs(self.accounts, settings)
            var configuration = CompatibilityConfiguration()
            for app in Set(keys.keys).union(accounts.keys) {
                guard let topic = Topic(app) else {
                    throw SettingsError("serve.compatibility: '\(app)' is not a bundle id", status: .usage)
                }
                let own = keys[app] ?? []
                guard own.count <= 1 else {
                    throw SettingsError("serve.compatibility.doors: give \(app) one key", status: .usage)
                }
                guard let access = FormAccess(key: own.first, accounts: Set(accounts[app] ?? [])) else {
                    let form = "at least \(FormAccess.minimumKey) letters, digits, hyphens or underscores"
                    throw SettingsError(
                        "serve.compatibility: the key of \(app) needs \(form), and an account a name",
                        status: .usage
                    )
                }
                configuration.apps[topic] = access
            }
            return configuration
        }

        /// Splits the texts `APP=VALUE` of a setting into the values of each app.
        private static func pairs(_ setting: Setting, _ settings: SettingsReader) throws -> [String: [String]] {
            var pairs: [String: [String]] = [:]
            for text in settings.strings(setting) ?? [] {
                guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
                    throw SettingsError("\(setting.key): use APP=VALUE", status: .usage)
                }
                pairs[String(text[..<equals]), default: []].append(String(text[text.index(after: equals)...]))
            }
            return pairs
        }
    }
}
