package import HTTPTypes
package import HummingbirdCore
import HummingbirdHTTP2
package import NIOCore

extension HTTPServerBuilder {
    /// Returns a server that bounds the time of requests and responses, and the connections that are not authenticated.
    ///
    /// - Parameters:
    ///   - deadline: The time for a request, and for each piece of a response.
    ///   - idle: The longest time without a byte.
    ///   - tls: The certificate of a server with TLS, HTTP/2 and HTTP/1.1; `nil` for HTTP/1.1 without TLS.
    ///   - held: The accounts of all connections; `nil` if they have none.
    ///   - listener: The name of the listener in the log.
    ///   - isAuthenticated: Returns `true` if this response to this request of HTTP/1.1 shows that its client is
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
