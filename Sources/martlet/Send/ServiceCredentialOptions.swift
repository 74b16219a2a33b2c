import ArgumentParser
import PushSender
import PushTypes

/// The options that name a push service and a credential for it.
protocol PushServiceOptions {
    var credential: String? { get }
    var credentialKey: String? { get }
    var teamID: String? { get }
    var keyID: String? { get }
    var service: String? { get }
    var authority: String? { get }
}

extension DirectOptions: PushServiceOptions {}

/// The options for asking a push service about channels without a provider.
struct ServiceCredentialOptions: ParsableArguments, PushServiceOptions {
    @Option(help: "A .p8 key, a .p12 archive or a PEM file, to ask the push service without a provider.")
    var credential: String?
    @Option(help: "The private key of a PEM certificate, if it is in another file.") var credentialKey: String?
    @Option(help: "Team id, for a .p8 key.") var teamID: String?
    @Option(help: "Key id, for a .p8 key; default: from the file name AuthKey_<key id>.p8.") var keyID: String?
    @Option(help: "production or sandbox for Apple's services, else HOST:PORT.") var service: String?
    @Option(help: "PEM file with an authority to trust besides the system's, such as a gateway's.")
    var authority: String?
    @OptionGroup var passphrase: SettingFlags<CredentialSettings>
    @OptionGroup var proxy: SettingFlags<SendSettings>

    /// Indicates whether the push service is asked without a provider.
    var isGiven: Bool { self.credential != nil }

    func validate() throws {
        if self.isGiven {
            guard self.service != nil else {
                throw ValidationError("Give --service: production, sandbox or HOST:PORT.")
            }
            return
        }
        let given = [self.credentialKey, self.teamID, self.keyID, self.service, self.authority]
        guard given.allSatisfy({ $0 == nil }), self.passphrase.values.isEmpty, self.proxy.values.isEmpty else {
            throw ValidationError("Asking a push service without a provider needs --credential.")
        }
    }

    /// Returns the bundle id that the settings name, else that of the certificate.
    static func bundleID(_ settings: SettingsReader, _ credential: PushCredential) throws -> Topic {
        if let text = settings.string(AppSettings.app) {
            guard let topic = Topic(text) else { throw ValidationError("'\(text)' is not a bundle id.") }
            return topic
        }
        if case .certificate(let certificate) = credential, let topic = certificate.defaultTopic {
            return topic.bundleID
        }
        throw ValidationError("Give --app with the bundle id.")
    }
}
