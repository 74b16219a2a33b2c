/// The settings for requests to a provider.
enum APISettings: SettingSection {
    static let server = Setting("api.server", flag: "server", default: "http://127.0.0.1:8080")
        .help("The provider's URL")
        .formerly("send.server")
    static let key = Setting("api.key", flag: "api-key", kind: .secret)
        .help("API key; better given as MARTLET_API_KEY")
        .detail("Other users of the machine can see flags in its list of processes.")
        .formerly("send.apiKey")

    static let authority = Setting("api.authority", flag: "api-authority")
        .help("PEM file with an authority to trust besides the system's, for a provider with HTTPS")

    static let settings = [server, key, authority]

    /// Creates a client of the provider that the settings specify.
    /// - Throws: ``SettingsError`` for a malformed URL or key.
    static func client(_ settings: SettingsReader) throws -> APIClient {
        let text = settings.text(self.server)
        let key = settings.string(self.key)
        if let key, !key.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) {
            // The key itself must not be shown.
            settings.reject(self.key, "the key has a space, a line break or another character that no key has")
        }
        if !APIClient.isURL(text) {
            settings.reject(self.server, "'\(text.printable)' is no URL such as http://127.0.0.1:8080")
        }
        try settings.check()
        let authority = try settings.string(self.authority).map { try InputFile.text($0, for: self.authority.key) }
        return try APIClient(baseURL: text, apiKey: key, authority: authority)
    }
}

/// The setting that specifies an app.
enum AppSettings: SettingSection {
    static let app = Setting("api.app", flag: "app")
        .help("The app's bundle id")

    static let settings = [app]
}

/// The settings for sending directly to a push service, without a provider.
enum SendSettings: SettingSection {
    static let proxy = Setting("send.proxy", flag: "proxy", kind: .secret)
        .help("HTTP proxy, as http://[USER:PASSWORD@]HOST:PORT")
        .detail("It must allow CONNECT to the push service. MARTLET_SEND_PROXY hides the password from process lists.")

    static let settings = [proxy]
}

/// The setting for the passphrase of a credential.
enum CredentialSettings: SettingSection {
    static let passphrase = Setting("credential.passphrase", flag: "passphrase", kind: .secret)
        .help("Passphrase of the credential; better given as MARTLET_CREDENTIAL_PASSPHRASE")
        .formerly("send.passphrase")

    static let settings = [passphrase]
}
