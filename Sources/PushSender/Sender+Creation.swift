public import Logging
import NIOPosix
import NIOSSL
import PushProtocol

extension Sender {
    /// - Parameters:
    ///   - endpoint: the push service, for example ``PushServiceEndpoint/apple(_:)``.
    ///   - key: what provider tokens are signed with.
    /// - Throws: when the endpoint's additional trust roots are no PEM certificates.
    public convenience init(
        to endpoint: PushServiceEndpoint,
        key: ProviderKey,
        configuration: SenderConfiguration = SenderConfiguration(),
        logger: Logger
    ) throws {
        let tls = try NIOSSLContext(configuration: endpoint.tlsConfiguration())
        self.init(
            pool: ConnectionPool(
                endpoint: endpoint,
                identity: SenderIdentity(tls: tls, token: SharedProviderToken(key)),
                configuration: configuration,
                group: MultiThreadedEventLoopGroup.singleton,
                time: SystemTime(),
                logger: logger
            )
        )
    }
}
