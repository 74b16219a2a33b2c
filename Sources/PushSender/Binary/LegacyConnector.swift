import NIOCore
import NIOPosix
package import NIOSSL
import PushSupport
package import PushTypes

/// Opens TCP and TLS connections for ``BinarySender`` and ``FeedbackClient``.
package struct LegacyConnector: Sendable {
    package let endpoint: PushServiceEndpoint
    private let tls: NIOSSLContext

    /// Creates a connector that authenticates with a client certificate.
    /// - Throws: ``CredentialError`` for a certificate that cannot be used with the endpoint now, or an error of the
    ///   TLS library if the endpoint's additional trust roots are not PEM certificates.
    init(to endpoint: PushServiceEndpoint, certificate: ClientCertificate) throws {
        if let environment = endpoint.environment {
            try certificate.check(environment: environment, now: SystemTime().now)
        }
        var tls = try endpoint.tlsConfiguration()
        tls.applicationProtocols = []
        tls.certificateChain = certificate.certificateChain
        tls.privateKey = certificate.privateKey
        try self.init(to: endpoint, tls: tls)
    }

    /// Creates a connector that uses `tls` unchanged, for tests.
    package init(to endpoint: PushServiceEndpoint, tls: TLSConfiguration) throws {
        self.endpoint = endpoint
        self.tls = try NIOSSLContext(configuration: tls)
    }

    /// Opens a channel with TLS, followed in the pipeline by the handlers that `initialize` adds.
    func connect(
        on group: any EventLoopGroup,
        initialize: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<any Channel> {
        let tls = self.tls
        let serverName = self.endpoint.host.serverName
        return ClientBootstrap(group: group)
            .connectTimeout(TimeAmount(self.endpoint.connectTimeout))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: tls, serverHostname: serverName)
                    )
                    try initialize(channel)
                }
            }
            .connect(host: self.endpoint.host, port: self.endpoint.port)
    }
}

/// The addresses of one environment's services for the binary protocol and for feedback (APNs reference 5 and 6).
package struct LegacyService: Hashable, Sendable {
    /// The address of the binary protocol, or `nil` if the environment has none.
    package var binary: PushServiceEndpoint?
    /// The address of the feedback service, or `nil` if the environment has none.
    package var feedback: PushServiceEndpoint?

    package init(binary: PushServiceEndpoint? = nil, feedback: PushServiceEndpoint? = nil) {
        (self.binary, self.feedback) = (binary, feedback)
    }
}

/// The error for a credential that uses the binary protocol in an environment that has no address for it.
package struct LegacyServiceMissing: Error, Hashable, CustomStringConvertible {
    package let environment: PushEnvironment

    package var description: String {
        let setting = "serve.legacy.\(self.environment.rawValue)Binary"
        return "the credential's transport is binary, and \(setting) names no binary push service"
    }
}
