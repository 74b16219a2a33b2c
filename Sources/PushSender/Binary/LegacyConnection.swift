import NIOCore
import NIOPosix
import NIOSSL

/// TCP and TLS of the two legacy clients.
enum LegacyConnection {
    /// The name to ask TLS for: an IP address is none (RFC 6066 section 3).
    static func serverName(for host: String) -> String? {
        host.isIPAddress ? nil : host
    }

    /// A bootstrap whose channels speak TLS below what `initialize` adds.
    static func bootstrap(
        on group: any EventLoopGroup,
        tls: NIOSSLContext,
        serverName: String?,
        connectTimeout: Duration,
        initialize: @escaping @Sendable (any Channel) throws -> Void
    ) -> ClientBootstrap {
        ClientBootstrap(group: group)
            .connectTimeout(TimeAmount(connectTimeout))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: tls, serverHostname: serverName)
                    )
                    try initialize(channel)
                }
            }
    }
}
