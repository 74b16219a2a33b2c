public import Logging
import NIOPosix
package import PushSupport

extension Sender {
    /// Creates a sender. It connects when there is something to send.
    ///
    /// - Parameters:
    ///   - endpoint: The push service, for example ``PushServiceEndpoint/apple(_:port:)``.
    ///   - credential: A signing key or a certificate.
    ///   - configuration: The limits and time limits.
    ///   - logger: The logger for changes of connections. Device tokens are never logged whole.
    /// - Throws: ``CredentialError`` for a certificate that has expired or belongs to the other environment, or an error of
    ///   swift-nio-ssl when the endpoint's additional trust roots are not PEM certificates.
    public convenience init(
        to endpoint: PushServiceEndpoint,
        credential: PushCredential,
        configuration: SenderConfiguration = SenderConfiguration(),
        logger: Logger
    ) throws {
        try self.init(
            to: endpoint,
            credential: credential,
            configuration: configuration,
            time: SystemTime(),
            logger: logger
        )
    }

    /// Creates a sender with the clocks of a test.
    package convenience init(
        to endpoint: PushServiceEndpoint,
        credential: PushCredential,
        configuration: SenderConfiguration,
        time: any TimeSource,
        logger: Logger
    ) throws {
        self.init(
            pool: try ConnectionPool(
                endpoint: endpoint,
                credential: credential,
                configuration: configuration,
                group: MultiThreadedEventLoopGroup.singleton,
                time: time,
                logger: logger
            )
        )
    }
}
