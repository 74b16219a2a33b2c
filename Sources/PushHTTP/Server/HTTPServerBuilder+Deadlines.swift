package import HTTPTypes
package import HummingbirdCore
import HummingbirdHTTP2
import Logging
package import NIOCore

extension HTTPServerBuilder {
    /// Returns a server that limits the time of requests and responses, and the number of unauthenticated connections.
    /// - Parameters:
    ///   - deadline: The maximum time for a request, and for each piece of a response.
    ///   - idle: The time without requests after which a connection is closed.
    ///   - tls: The certificate of a server with TLS, for HTTP/2 and HTTP/1.1, or `nil` for HTTP/1.1 without TLS.
    ///   - held: The limiter that charges all connections to accounts, or `nil` if there is none.
    ///   - listener: The name of the listener in the log.
    ///   - isAuthenticated: Returns `true` if an HTTP/1.1 request and its response show that the client is
    ///     authenticated.
    package static func bounded(
        deadline: TimeAmount,
        idle: TimeAmount,
        decoder: HTTP1Channel.Configuration.DecoderConfiguration = .init(),
        tls certificate: TLSCertificate? = nil,
        unauthenticated connections: UnauthenticatedConnectionBudget,
        held: ConnectionLimiter? = nil,
        listener: String,
        isAuthenticated: @escaping @Sendable (HTTPRequest, HTTPResponse) -> Bool
    ) -> HTTPServerBuilder {
        let connection = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                RequestBodyHandler(deadline: deadline), ResponseDeadlineHandler(deadline: deadline),
                UnauthenticatedRequestHandler(connections, listener: listener, isAuthenticated: isAuthenticated),
            ] + Self.activity(held),
            idleTimeout: idle,
            httpDecoderConfiguration: decoder
        )
        guard let certificate else {
            return HTTPServerBuilder { responder in
                PlainServerChannel(http1: HTTP1Channel(responder: responder, configuration: connection), held: held)
            }
        }
        let stream = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                RequestBodyHandler(deadline: deadline, transport: .stream),
                ResponseDeadlineHandler(deadline: deadline, transport: .stream),
            ] + Self.activity(held),
            idleTimeout: idle
        )
        let http2 = HTTP2ChannelConfiguration(
            idleTimeout: .nanoseconds(idle.nanoseconds),
            gracefulCloseTimeout: .nanoseconds(deadline.nanoseconds),
            streamConfiguration: stream
        )
        return HTTPServerBuilder { responder in
            TLSServerChannel(
                certificate: certificate,
                http1: HTTP1Channel(responder: responder, configuration: connection),
                http2: HTTP2Channel(responder: responder, configuration: http2),
                unauthenticated: connections,
                held: held,
                listener: listener
            )
        }
    }

    private static func activity(_ held: ConnectionLimiter?) -> [any RemovableChannelHandler] {
        held.map { [ConnectionActivityHandler($0)] } ?? []
    }
}

/// The connections of an HTTP/1.1 listener without TLS.
struct PlainServerChannel: ServerChildChannel {
    let http1: HTTP1Channel
    /// The limiter that charges connections to accounts, or `nil` if there is none.
    var held: ConnectionLimiter?

    /// Sets up a connection.
    ///
    /// The value is retained until the connection is closed. A listener that stops discards the connections that it has
    /// just accepted, and `NIOAsyncChannel` traps if it is deallocated before its connection is closed.
    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        do {
            try self.held?.admit(channel)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return self.http1.setup(channel: channel, logger: logger).flatMapThrowing { value in
            try HostFieldHandler.add(to: channel)
            channel.closeFuture.whenComplete { _ in withExtendedLifetime(value) {} }
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await self.http1.handle(value: value, logger: logger)
    }
}
