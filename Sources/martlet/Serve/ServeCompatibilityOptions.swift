import ArgumentParser
import Configuration
import ProviderAPI
import PushTypes

/// Which apps may register through the forms of older systems.
struct ServeCompatibilityOptions: ParsableArguments {
    @Option(help: "APP=KEY: opens the forms of older systems for an app; repeat it (serve.compatibility.doors).")
    var door: [String] = []

    @Option(help: "APP=ACCOUNT: opens the publisher's form for an account; repeat it (serve.compatibility.accounts).")
    var account: [String] = []

    var flags: [String: ConfigValue?] {
        ["serve.compatibility.doors": self.door.setting(), "serve.compatibility.accounts": self.account.setting()]
    }

    /// - Throws: ``SettingsError`` that names the setting, never a key.
    static func configuration(_ settings: Settings) throws -> CompatibilityConfiguration {
        let keys = try self.pairs("serve.compatibility.doors", settings)
        let accounts = try self.pairs("serve.compatibility.accounts", settings)
        var configuration = CompatibilityConfiguration()
        for app in Set(keys.keys).union(accounts.keys) {
            guard let topic = Topic(app) else { throw SettingsError("serve.compatibility: '\(app)' is no bundle id") }
            let own = keys[app] ?? []
            guard own.count <= 1 else { throw SettingsError("serve.compatibility.doors: give \(app) one key") }
            guard let door = CompatibilityConfiguration.Door(key: own.first, accounts: Set(accounts[app] ?? [])) else {
                throw SettingsError(
                    "serve.compatibility: the key of \(app) needs at least \(CompatibilityConfiguration.Door.minimumKey) "
                        + "letters, digits, hyphens or underscores"
                )
            }
            configuration.doors[topic] = door
        }
        return configuration
    }

    private static func pairs(_ key: String, _ settings: Settings) throws -> [String: [String]] {
        var pairs: [String: [String]] = [:]
        for text in settings.strings(key) ?? [] {
            guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
                throw SettingsError("\(key): use APP=VALUE")
            }
            pairs[String(text[..<equals]), default: []].append(String(text[text.index(after: equals)...]))
        }
        return pairs
    }
}
