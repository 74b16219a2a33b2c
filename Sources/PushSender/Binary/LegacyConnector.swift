import NIOCore
import NIOPosix
package import NIOSSL
import PushSupport

/// Opens TCP and TLS connections for both legacy clients.
package struct LegacyConnector: Sendable {
    package let endpoint: PushServiceEndpoint
    private let tls: NIOSSLContext

    /// - Throws: ``CredentialError`` for a certificate that cannot be used with the endpoint now, and an error of the
    ///   TLS library when the endpoint's additional trust roots are not PEM certificates.
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

    /// Uses `tls` as it is; for tests.
    package init(to endpoint: PushServiceEndpoint, tls: TLSConfiguration) throws {
        self.endpoint = endpoint
        self.tls = try NIOSSLContext(configuration: tls)
    }

    /// Connects a channel with TLS in front of the handlers that `initialize` adds.
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
