import ProviderAPI
import PushProvider

extension ServeSettings {
    /// The rules by which entitlement to retail issues is decided.
    enum Entitlement: ConfigurationSection {
        private static let appStoreRoot = Setting("serve.publishing.appStoreRoot", flag: "app-store-root")
            .help("File with Apple's root certificate, DER or PEM, to which purchases must lead")
            .detail("Without it no purchase entitles. The App Store uses Apple Root CA - G3.")
            .detail("A PEM file may hold several ([entitlement.md](entitlement.md)).")

        static let rows: [SettingRow<ProviderConfiguration>] = [
            SettingRow(appStoreRoot),
            .toggle(
                "serve.publishing.allowSandboxPurchases",
                flag: "allow-sandbox-purchases",
                \.entitlement.allowsSandboxPurchases
            )
            .help("Let purchases in the sandbox entitle to every product")
            .detail("Otherwise only to products that begin with `dev_test.`. App Review buys in the sandbox."),
            .time("serve.publishing.entitlementSeconds", flag: "entitlement-seconds", 1...30, \.entitlement.deadline)
                .help("Seconds that a publisher's server has to answer"),
            .time("serve.publishing.grantSeconds", flag: "grant-seconds", 0...86_400, \.entitlement.grantTime)
                .help("Seconds for which a grant of a publisher's server is not asked for again"),
            .time("serve.publishing.refusalSeconds", flag: "refusal-seconds", 0...86_400, \.entitlement.refusalTime)
                .help("Seconds for which a refusal of a publisher's server is not asked for again"),
            .time("serve.publishing.knownHours", flag: "known-hours", 1...720, unit: 3600, \.entitlement.knownTime)
                .help("Hours for which a grant counts while the publisher's server does not answer")
                .detail("For apps whose `whenDown` is `allowKnown`. Grants are kept in memory only."),
        ]

        /// Returns the root certificates of purchases; `nil` without the setting.
        /// - Throws: ``SettingsError`` for a file without certificates.
        static func roots(_ settings: SettingsReader) throws -> AppStoreRoots? {
            guard let path = settings.string(self.appStoreRoot) else { return nil }
            let (key, maximum) = (self.appStoreRoot.key, AppStoreRoots.maximumLength)
            do {
                return try AppStoreRoots(try InputFile.data(path, for: key, maximum: maximum))
            } catch is AppStoreRoots.Unreadable {
                throw SettingsError("\(key): \(path) has no certificate in PEM or DER", status: .usage)
            }
        }
    }
}
