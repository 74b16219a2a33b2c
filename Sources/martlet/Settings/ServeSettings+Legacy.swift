import ProviderAPI
import PushBridges
import PushHTTP
import PushSender
import PushTypes

extension ServeSettings {
    /// The settings for the legacy services (binary protocol and feedback) of push services that still offer them.
    enum Legacy: SettingSection {
        static let sandboxBinary = Setting("serve.legacy.sandboxBinary", flag: "sandbox-binary")
            .help("HOST:PORT of the sandbox's binary protocol, for credentials whose transport is binary")
            .detail("Apple has ended its own. It is reached directly, not through `serve.proxy`.")
        static let productionBinary = Setting("serve.legacy.productionBinary", flag: "production-binary")
            .help("HOST:PORT of production's binary protocol")
        static let sandboxFeedback = Setting("serve.legacy.sandboxFeedback", flag: "sandbox-feedback")
            .help("HOST:PORT of the sandbox's feedback service, which is read every hour")
            .detail("It is read for the apps that have a certificate there.")
        static let productionFeedback = Setting("serve.legacy.productionFeedback", flag: "production-feedback")
            .help("HOST:PORT of production's feedback service, which is read every hour")

        static let settings = [sandboxBinary, productionBinary, sandboxFeedback, productionFeedback]

        /// Returns the legacy services that the settings specify, by environment.
        /// - Parameter authority: The PEM certificates that are trusted in addition to the system's, or `nil` for none.
        /// - Throws: ``SettingsError`` for a malformed address.
        static func services(
            _ settings: SettingsReader,
            authority: String?
        ) throws -> [PushEnvironment: LegacyService] {
            var services: [PushEnvironment: LegacyService] = [:]
            for environment in PushEnvironment.allCases {
                let isSandbox = environment == .sandbox
                let (binary, feedback) =
                    isSandbox
                    ? (self.sandboxBinary, self.sandboxFeedback) : (self.productionBinary, self.productionFeedback)
                let service = LegacyService(
                    binary: try self.endpoint(binary, settings, environment, authority),
                    feedback: try self.endpoint(feedback, settings, environment, authority)
                )
                if service != LegacyService() { services[environment] = service }
            }
            return services
        }

        private static func endpoint(
            _ setting: Setting,
            _ settings: SettingsReader,
            _ environment: PushEnvironment,
            _ authority: String?
        ) throws -> PushServiceEndpoint? {
            guard let text = settings.string(setting) else { return nil }
            guard let address = ServiceAddress(text), let port = address.port else {
                throw SettingsError("\(setting.key): '\(text)' is not HOST:PORT", status: .usage)
            }
            return PushServiceEndpoint(
                host: address.host,
                port: port,
                additionalTrustRoots: authority,
                environment: environment
            )
        }
    }
}

extension ServeSettings {
    /// The settings for the listeners to which old providers with the legacy protocols connect.
    enum Bridge: SettingSection {
        private static let host = Setting("serve.bridge.host", flag: "bridge-host", default: "127.0.0.1")
            .help("Address that the listeners for old providers listen on")
        private static let binaryPort = Setting(
            "serve.bridge.binaryPort",
            flag: "bridge-binary-port",
            kind: Setting.ports
        )
        .help("Port on which old providers push over the binary protocol, usually 2195; 0 takes a free one")
        .detail("Bridges of the kind `binary` say who may ([bridges-legacy.md](bridges-legacy.md)).")
        private static let feedbackPort = Setting(
            "serve.bridge.feedbackPort",
            flag: "bridge-feedback-port",
            kind: Setting.ports
        )
        .help("Port on which old providers read feedback, usually 2196; 0 takes a free one")
        private static let certificate = Setting("serve.bridge.certificate", flag: "bridge-certificate")
            .help("PEM file with the certificate that old providers see, followed by those of its issuers")
            .detail("It must have the name by which they reach the listener; most of them check that.")
        private static let key = Setting("serve.bridge.key", flag: "bridge-key")
            .help("PEM file with the private key of that certificate, without a passphrase")
        private static let authority = Setting("serve.bridge.authority", flag: "bridge-authority")
            .help("PEM file of the authority that signed the old providers' certificates")
            .detail("With it, bridges need not name certificates: every certificate of their topic counts.")
            .detail("Without it, a bridge accepts the certificates that it names, even expired ones.")
        private static let allowsOldTLS = Setting(
            "serve.bridge.allowOldTLS",
            flag: "bridge-allow-old-tls",
            kind: .toggle
        )
        .help("Allow TLS 1.0 and 1.1 on the listeners for old providers")

        static let settings = [host, binaryPort, feedbackPort, certificate, key, authority, allowsOldTLS]

        /// Creates the configuration of the listeners. Returns `nil` if neither the settings nor the defaults have a
        /// port.
        /// - Parameter defaults: The ports to use if the settings specify none, or `nil` for no default listeners.
        /// - Throws: ``SettingsError`` for listeners without a certificate, or a file that cannot be used.
        static func configuration(
            _ settings: SettingsReader,
            defaults: (binary: Int, feedback: Int)? = nil
        ) throws -> BinaryBridgeConfiguration? {
            let binary = settings.integer(self.binaryPort) ?? defaults?.binary
            let feedback = settings.integer(self.feedbackPort) ?? defaults?.feedback
            guard binary != nil || feedback != nil else { return nil }
            guard let certificate = settings.string(self.certificate), let key = settings.string(self.key) else {
                let message = "name the files with the certificate that old providers see and its key"
                throw SettingsError("\(self.certificate.key), \(self.key.key): \(message)", status: .usage)
            }
            var configuration = BinaryBridgeConfiguration(tls: TLSFiles(certificate: certificate, key: key))
            configuration.host = settings.text(self.host)
            (configuration.binaryPort, configuration.feedbackPort) = (binary, feedback)
            configuration.authority = try settings.string(self.authority).map {
                try InputFile.authorities($0, for: self.authority.key)
            }
            configuration.allowsOldTLS = settings.isOn(self.allowsOldTLS)
            return configuration
        }
    }
}

extension ServeSettings {
    /// The settings for the apps whose devices may be registered with the registration forms of older systems.
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

        /// Creates the configuration for the registration forms of older systems.
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

        /// Parses the values of a setting, each in the form `APP=VALUE`, and returns them by app.
        /// - Throws: ``SettingsError`` for a value of another form.
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
