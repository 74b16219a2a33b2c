import Foundation
import Logging
import NIOCore
import NIOExtras
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Opens the transport of a connection: TCP, the tunnel of a proxy if one is configured, TLS with ALPN `h2`.
///
/// The name is resolved for every connection, so that connections spread over the service's addresses (reference 1.11).
struct Connector: Sendable {
    let endpoint: PushServiceEndpoint
    let proxy: ProxyEndpoint?
    let tls: NIOSSLContext

    /// Adds `connection` to a new channel.
    /// - Returns: A future that succeeds after the TLS handshake. Later failures reach the connection.
    func connect(_ connection: PushConnection, on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
        let timeout = TimeAmount(self.endpoint.connectTimeout)
        let deadline = NIODeadline.now() + timeout
        let bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(timeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.writeBufferWaterMark, value: .init(low: 64 * 1024, high: 512 * 1024))
        let bound = NIOLoopBound(connection, eventLoop: eventLoop)
        guard let proxy else {
            return bootstrap.connect(host: self.endpoint.host, port: self.endpoint.port).flatMap { channel in
                self.secure(channel, bound.value, deadline: deadline)
            }
        }
        // The address in a certificate is compared with that of the channel, which is the proxy's.
        guard !self.endpoint.host.isIPAddress else {
            return eventLoop.makeFailedFuture(
                ConnectionFailure(
                    description: "through a proxy the push service must be a name, not an address",
                    isLasting: true
                )
            )
        }
        return bootstrap.connect(host: proxy.host, port: proxy.port).flatMap { channel in
            self.tunnel(channel, proxy, deadline: deadline).flatMap {
                self.secure(channel, bound.value, deadline: deadline)
            }
        }
    }

    private func secure(
        _ channel: any Channel,
        _ connection: PushConnection,
        deadline: NIODeadline
    ) -> EventLoopFuture<Void> {
        let done = channel.eventLoop.makePromise(of: Void.self)
        do {
            let handshake = TLSHandshake(done, deadline: deadline)
            let pipeline = channel.pipeline.syncOperations
            // A server name must not be an address (RFC 6066 section 3).
            let name = self.endpoint.host.isIPAddress ? nil : self.endpoint.host
            try pipeline.addHandler(NIOSSLClientHandler(context: self.tls, serverHostname: name))
            try pipeline.addHandler(handshake)
            try pipeline.addHandler(connection)
        } catch {
            done.fail(error)
            channel.close(promise: nil)
        }
        return done.futureResult
    }

    private func tunnel(
        _ channel: any Channel,
        _ proxy: ProxyEndpoint,
        deadline: NIODeadline
    ) -> EventLoopFuture<Void> {
        var headers: HTTPHeaders = ["host": "\(self.endpoint.host):\(self.endpoint.port)"]
        if let user = proxy.user {
            let credentials = Data("\(user):\(proxy.password ?? "")".utf8).base64EncodedString()
            headers.add(name: "proxy-authorization", value: "Basic \(credentials)")
        }
        let opened = channel.eventLoop.makePromise(of: Void.self)
        let decoder = ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .forwardBytes))
        let encoder = HTTPRequestEncoder()
        let pipeline = channel.pipeline.syncOperations
        do {
            try pipeline.addHandlers([encoder, decoder])
            try pipeline.addHandler(
                NIOHTTP1ProxyConnectHandler(
                    targetHost: self.endpoint.host,
                    targetPort: self.endpoint.port,
                    headers: headers,
                    deadline: deadline,
                    promise: opened
                )
            )
        } catch {
            opened.fail(error)
            channel.close(promise: nil)
        }
        let handlers = NIOLoopBound((encoder, decoder), eventLoop: channel.eventLoop)
        return opened.futureResult.flatMap {
            let pipeline = channel.pipeline.syncOperations
            let (encoder, decoder) = handlers.value
            return pipeline.removeHandler(encoder).and(pipeline.removeHandler(decoder)).map { _ in }
        }
    }
}
