import PushSender
import PushSupport
import PushTypes

extension ServeSettings {
    /// The legacy services of push services that still have them: the binary protocol and feedback.
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

        /// Returns the legacy services of each environment.
        /// - Parameter authority: The PEM certificates that are trusted besides the system's.
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
