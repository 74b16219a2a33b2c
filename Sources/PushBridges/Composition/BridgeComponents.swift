import ProviderAPI
package import ProviderModel
package import PushHTTP
import PushProvider
import PushSupport
package import PushTypes

/// The components that bridges are built from: the provider's components, and those that several bridges share.
struct BridgeComponents: Sendable {
    let provider: ProviderComponents
    let configuration: BridgesConfiguration
    /// The HTTP client for requests to URLs in the settings of apps, such as that of the server that a bridge replaces.
    let settingsClient: RestrictedHTTPClient
    /// The HTTP client for requests to URLs that unauthenticated clients name, such as UnifiedPush endpoints.
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

/// The bridge configuration with which a provider starts. All other settings of bridges are in the store.
package struct BridgesConfiguration: Sendable {
    /// The configuration of the listeners for legacy providers, or `nil` for no such listeners.
    package var binary: BinaryBridgeConfiguration?
    /// The certificate authorities, in PEM, that are trusted at chat servers besides those of the system. Default none.
    package var chatAuthorities: String?

    package init(binary: BinaryBridgeConfiguration? = nil, chatAuthorities: String? = nil) {
        (self.binary, self.chatAuthorities) = (binary, chatAuthorities)
    }
}

/// The configuration of the listeners for legacy providers, which speak Apple's binary protocol.
package struct BinaryBridgeConfiguration: Sendable {
    /// A legacy provider whose bridge, app and credentials are stored at startup.
    package struct Client: Sendable {
        /// The topic of the legacy provider's certificate.
        package var topic: Topic
        /// The environment of the legacy provider's pushes, or `nil` for the environment of its certificate.
        package var environment: PushEnvironment?
        /// The SHA-256 fingerprints of the legacy provider's certificates, in hexadecimal.
        package var fingerprints: [String]
        /// The credentials for Apple's push service, by environment.
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
    /// The port of the binary protocol. 0 selects any free port, and `nil` disables the listener.
    package var binaryPort: Int?
    /// The port of the feedback service. 0 selects any free port, and `nil` disables the listener.
    package var feedbackPort: Int?
    /// The listeners' certificate and its private key.
    package var tls: TLSFiles
    /// The authorities that sign legacy providers' certificates, in PEM. If it is `nil`, each bridge must list the
    /// certificates that it accepts.
    package var authority: String?
    /// A Boolean value that indicates whether TLS 1.0 and 1.1 are allowed, for clients that support nothing newer.
    /// Default `false`.
    package var allowsOldTLS = false
    /// A Boolean value that indicates whether notifications of commands 0 and 1 may have payloads of up to 2,048 bytes,
    /// like those of command 2, instead of 256. Default `true`, because some clients rely on it.
    package var isLenient = true
    /// The maximum number of legacy providers' connections to each listener. Further ones are closed. Default 1,000.
    package var connections = 1000
    /// The maximum time for a TLS handshake, after which the connection is closed. Default 10 s.
    package var handshake: Duration = .seconds(10)
    /// The legacy providers whose bridges, apps and credentials are stored at startup.
    package var clients: [Client] = []

    package init(tls: TLSFiles) { self.tls = tls }
}
