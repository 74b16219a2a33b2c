import PushBridges
import PushHTTP
import PushSender

extension ServeSettings {
    /// The listeners for old providers.
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

        /// Returns the configuration of the listeners; `nil` without a port.
        /// - Parameter defaults: The ports where the settings name none; `nil` for no listener.
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
