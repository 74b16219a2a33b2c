import NIOCore
import NIOSSL
import PushHTTP
import PushSupport
import PushTypes

struct EnvironmentListeners: Sendable {
    /// The maximum number of feedback connections. Further ones are closed immediately. Each connection keeps its
    /// entries in memory until its client has read them.
    private static let feedbackConnections = 100
    /// The cipher suites of TLS 1.2 for HTTP/2: only suites with forward secrecy and authenticated encryption, none of
    /// those that RFC 9113 appendix A prohibits. TLS 1.3 uses the suites of the TLS library.
    private static let http2CipherSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    /// The listeners for providers with HTTP/2 (reference 1), devices (device link reference 1), providers with the
    /// binary protocol (reference 5), and readers of the feedback service (reference 6).
    let all: PerListener<Listener>

    /// Creates the listeners, whose ports ``bind(_:_:)`` opens.
    /// - Throws: An error of the TLS library for certificates that cannot be used.
    init(_ environment: PushEnvironment, _ core: GatewayCore) throws {
        let (configuration, authorities, services) = (core.configuration, core.authorities, core.shared.services)
        let limits = configuration.limits
        let expired = try authorities.server.expired(authority: authorities.gateway, now: services.time.now.date)
        func listener(
            _ kind: FaultListener,
            _ name: String,
            limits: GatewayConfiguration.Limits,
            options: Listener.Options = .init(),
            _ configure: (TLSConfiguration) throws -> TLSConfiguration
        ) throws -> Listener {
            try Listener(
                name: "\(environment.rawValue) \(name)",
                tls: try configure(authorities.server.tlsConfiguration(protocols: [])),
                limits: limits,
                options: options,
                unauthenticated: core.unauthenticated,
                faults: ListenerFaultPlan(
                    plan: services.faults,
                    listener: kind,
                    environment: environment,
                    expiredTLS: NIOSSLContext(configuration: try configure(expired.tlsConfiguration(protocols: []))),
                    time: services.time
                ),
                logger: services.logger
            )
        }
        var few = limits
        few.connections = min(limits.connections, Self.feedbackConnections)
        let legacy: (TLSConfiguration) throws -> TLSConfiguration = {
            LegacyTLS.configuration(
                server: $0,
                providerAuthority: try authorities.providers.trustRoots,
                allowsOldTLS: configuration.allowsOldTLS
            )
        }
        let http2 = try listener(
            .http2,
            "HTTP/2",
            limits: limits,
            options: .init(checksCertificates: false, allowsHalfClosure: true)
        ) {
            try Self.provider($0, authorities)
        }
        let deviceLink = try listener(.deviceLink, "courier", limits: limits, options: .init(watchesHandshake: false)) {
            try Self.device($0, authorities)
        }
        let binary = try listener(.binary, "binary", limits: limits, options: .init(allowsHalfClosure: true)) {
            var tls = try legacy($0)
            // Short, because the client has already had ``BinaryServerStateMachine/Limits/drain`` to read the error
            // packet.
            tls.shutdownTimeout = .milliseconds(100)
            return tls
        }
        let feedback = try listener(.feedback, "feedback", limits: few, legacy)
        self.all = PerListener(http2: http2, deviceLink: deviceLink, binary: binary, feedback: feedback)
    }

    /// Returns a configuration that requests a provider's certificate. The certificate is checked after the handshake,
    /// so that the response can name the reason.
    private static func provider(_ server: TLSConfiguration, _ authorities: Authorities) throws -> TLSConfiguration {
        var tls = server
        tls.cipherSuiteValues = Self.http2CipherSuites
        tls.applicationProtocols = ["h2"]
        tls.certificateVerification = .optionalVerification
        tls.trustRoots = .certificates(try authorities.providers.trustRoots)
        tls.sendCANameList = true
        return tls
    }

    private static func device(_ server: TLSConfiguration, _ authorities: Authorities) throws -> TLSConfiguration {
        var tls = server
        tls.applicationProtocols = ["apns-security-v3"]
        tls.certificateVerification = .optionalVerification
        tls.trustRoots = .certificates(try authorities.devices.trustRoots)
        return tls
    }

    func bind(_ core: EnvironmentCore, _ addresses: GatewayConfiguration.Listeners) async throws
        -> GatewayAddresses.Ports
    {
        GatewayAddresses.Ports(
            http2: try await self.all.http2.bind(addresses.http2, initialize: core.providerListener.initialize),
            deviceLink: try await self.all.deviceLink.bind(
                addresses.deviceLink,
                initialize: core.deviceLinkListener.initialize
            ),
            binary: try await self.all.binary.bind(addresses.binary, initialize: core.binaryListener.initialize),
            feedback: try await self.all.feedback.bind(addresses.feedback, initialize: core.feedbackListener.initialize)
        )
    }

    func addGauges(to gauges: GaugeRegistry, _ environment: PushEnvironment) {
        for (name, listener) in self.all.named {
            GatewayGauges(registry: gauges, labels: ["listener": name, "environment": environment.rawValue])
                .addConnections(limit: listener.maximumConnections) { listener.connections }
        }
    }

    /// Closes all listeners. Providers' running requests are finished. Unacknowledged messages are sent again later.
    func close() async {
        await withTaskGroup(of: Void.self) { group in
            for listener in [self.all.http2, self.all.binary, self.all.feedback] {
                group.addTask { await listener.close(draining: true) }
            }
        }
        await self.all.deviceLink.close(draining: false)
    }
}
