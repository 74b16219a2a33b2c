import PushTypes

/// The settings that every command with a phone has, in a section of its own.
struct PhoneSettings: Sendable {
    let provider, publicKey, gateway, directory, environment, proxy: Setting

    /// - Parameter section: The first part of their keys.
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

    /// All of them, in the order of the documentation.
    var all: [Setting] {
        [self.provider, self.publicKey, self.gateway, self.directory, self.environment, self.proxy]
    }
}
