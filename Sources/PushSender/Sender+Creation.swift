public import Logging
import NIOPosix
package import PushSupport

extension Sender {
    /// - Parameters:
    ///   - endpoint: the push service, for example ``PushServiceEndpoint/apple(_:)``.
    ///   - credential: a signing key or a certificate.
    /// - Throws: ``CredentialError`` for a certificate that has expired or belongs to the other environment, and an
    ///   error of the TLS library when the endpoint's additional trust roots are no PEM certificates.
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
