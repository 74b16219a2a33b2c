package import PushHTTP
package import PushStore
package import PushTypes

/// The configuration of the legacy bridge: the listeners for old providers.
package struct BinaryBridgeConfiguration: Sendable {
    /// An old provider whose bridge, app and credential are set at the start.
    package struct Client: Sendable {
        /// The topic of its certificate.
        package var topic: Topic
        /// The environment of its pushes; `nil` for that of its certificate.
        package var environment: PushEnvironment?
        /// The SHA-256 fingerprints of its certificates, in hexadecimal.
        package var fingerprints: [String]
        /// The credential for the push service, by environment.
        package var credentials: [PushEnvironment: CredentialRecord]

        package init(
            topic: Topic,
            environment: PushEnvironment?,
            fingerprints: [String],
            credentials: [PushEnvironment: CredentialRecord]
        ) {
            (self.topic, self.environment, self.fingerprints) = (topic, environment, fingerprints)
            self.credentials = credentials
        }
    }

    /// The address to listen on. Default 127.0.0.1.
    package var host = "127.0.0.1"
    /// The port of the binary protocol, 0 for any free one; `nil` for no listener.
    package var binaryPort: Int?
    /// The port of the feedback service, 0 for any free one; `nil` for no listener.
    package var feedbackPort: Int?
    /// The certificate that old providers see.
    package var tls: TLSFiles
    /// The certificates of the authority of old providers' certificates, in PEM; `nil` lets bridges name each certificate.
    package var authority: String?
    /// Allows TLS 1.0 and 1.1, for clients that know nothing newer. Default `false`.
    package var allowsOldTLS = false
    /// Indicates whether commands 0 and 1 may carry payloads of 2,048 bytes. Default `true`, as clients exist that rely on it.
    package var isLenient = true
    /// The most connections of old providers to each listener. Default 1,000.
    package var connections = 1000
    /// The longest TLS handshake. Default 10 s.
    package var handshake: Duration = .seconds(10)
    /// The old providers that are set at the start.
    package var clients: [Client] = []

    package init(tls: TLSFiles) { self.tls = tls }
}
