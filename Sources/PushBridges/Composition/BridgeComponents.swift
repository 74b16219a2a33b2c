import ProviderAPI
package import ProviderModel
package import PushHTTP
import PushProvider
import PushSupport
package import PushTypes

/// The components that bridges are built from: those of the provider, and those that several bridges share.
struct BridgeComponents: Sendable {
    let provider: ProviderComponents
    let configuration: BridgesConfiguration
    /// The client for requests to addresses in the settings of apps.
    let settingsClient: RestrictedHTTPClient
    /// The client for requests to addresses that unauthenticated clients name.
    let strangersClient: RestrictedHTTPClient
    let authenticator: BridgeAuthenticator
    let submission: PushSubmission
    let shadow: ShadowForwarder

    init(_ provider: ProviderComponents, _ configuration: BridgesConfiguration) {
        func client(_ source: HostNameSource) -> RestrictedHTTPClient {
            RestrictedHTTPClient(
                addresses: provider.configuration.webhookAddresses,
                resolver: provider.resolver,
                source: source,
                deadline: provider.configuration.limits.peer
            )
        }
        (self.provider, self.configuration) = (provider, configuration)
        (self.settingsClient, self.strangersClient) = (client(.settings), client(.strangers))
        self.authenticator = BridgeAuthenticator(
            runner: provider.runner,
            budgets: provider.budgets,
            log: RateLimitedLog(provider.logger, provider.budgets[.logLines])
        )
        self.submission = PushSubmission(parts: provider)
        self.shadow = ShadowForwarder(
            client: self.settingsClient,
            bytes: provider.budgets[.bodyBytes],
            store: provider.store,
            time: provider.time,
            logger: provider.logger
        )
    }
}

/// The configuration of bridges that a provider is started with. All other settings of bridges are in the store.
package struct BridgesConfiguration: Sendable {
    /// The listeners for old providers, or `nil` for none.
    package var binary: BinaryBridgeConfiguration?
    /// The certificates in PEM that are trusted at chat servers besides those of the system. Default none.
    package var chatAuthorities: String?

    package init(binary: BinaryBridgeConfiguration? = nil, chatAuthorities: String? = nil) {
        (self.binary, self.chatAuthorities) = (binary, chatAuthorities)
    }
}

/// The configuration of the legacy bridge: the listeners for old providers.
package struct BinaryBridgeConfiguration: Sendable {
    /// An old provider whose bridge, app and credential are set at the start.
    package struct Client: Sendable {
        /// The topic of the certificate.
        package var topic: Topic
        /// The environment of the old provider's pushes, or `nil` for that of its certificate.
        package var environment: PushEnvironment?
        /// The SHA-256 fingerprints of the old provider's certificates, in hexadecimal.
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
    /// The port of the binary protocol. 0 is any free port, and `nil` means no listener.
    package var binaryPort: Int?
    /// The port of the feedback service. 0 is any free port, and `nil` means no listener.
    package var feedbackPort: Int?
    /// The server's certificate and its key.
    package var tls: TLSFiles
    /// The authorities that sign old providers' certificates, in PEM. If it is `nil`, bridges name each certificate.
    package var authority: String?
    /// Indicates whether TLS 1.0 and 1.1 are allowed, for clients that know nothing newer. Default `false`.
    package var allowsOldTLS = false
    /// Indicates whether commands 0 and 1 may carry payloads of 2,048 bytes. Default `true`, because some clients rely
    /// on it.
    package var isLenient = true
    /// The maximum number of connections of old providers to each listener. Default 1,000.
    package var connections = 1000
    /// The longest time for a TLS handshake. Default 10 s.
    package var handshake: Duration = .seconds(10)
    /// The old providers that are set at the start.
    package var clients: [Client] = []

    package init(tls: TLSFiles) { self.tls = tls }
}
