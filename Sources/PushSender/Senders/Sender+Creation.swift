public import Logging
import NIOPosix
package import PushSupport
package import PushTypes

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

    /// Creates a sender with clocks of its own.
    ///
    /// - Parameters:
    ///   - environment: The environment that metrics name; `nil` for the endpoint's.
    ///   - ports: The ports that it shares with other senders; `nil` for ports of its own.
    package convenience init(
        to endpoint: PushServiceEndpoint,
        credential: PushCredential,
        configuration: SenderConfiguration,
        environment: PushEnvironment? = nil,
        time: any TimeSource,
        ports: PortSelector? = nil,
        observer: ConnectionObserver? = nil,
        logger: Logger
    ) throws {
        self.init(
            pool: try ConnectionPool(
                endpoint: endpoint,
                credential: credential,
                configuration: configuration,
                environment: environment,
                group: MultiThreadedEventLoopGroup.singleton,
                time: time,
                ports: ports,
                observer: observer,
                logger: logger
            )
        )
    }
}
