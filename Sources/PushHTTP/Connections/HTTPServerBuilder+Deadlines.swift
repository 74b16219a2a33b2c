package import HTTPTypes
package import HummingbirdCore
package import Logging
package import NIOCore

extension HTTPServerBuilder {
    /// Returns an HTTP/1.1 server that bounds the time of requests and responses, and the connections that are not
    /// authenticated.
    ///
    /// - Parameters:
    ///   - deadline: The time for a request, and for each piece of a response.
    ///   - idle: The longest time without a byte.
    ///   - listener: The name of the listener in the log.
    ///   - isAuthenticated: Returns `true` if this response to this request shows that its client is authenticated.
    package static func http1(
        deadline: TimeAmount,
        idle: TimeAmount,
        decoder: HTTP1Channel.Configuration.DecoderConfiguration = .init(),
        unauthenticated connections: UnauthenticatedConnections,
        listener: String,
        isAuthenticated: @escaping @Sendable (HTTPRequest, HTTPResponse) -> Bool
    ) -> HTTPServerBuilder {
        .http1(
            configuration: .init(
                additionalChannelHandlers: [
                    RequestBodyHandler(deadline: deadline), ResponseDeadlineHandler(deadline: deadline),
                    UnauthenticatedRequestHandler(connections, listener: listener, isAuthenticated: isAuthenticated),
                ],
                idleTimeout: idle,
                httpDecoderConfiguration: decoder
            )
        )
    }
}

extension Logger {
    /// This logger without messages below warning: the HTTP server's messages of start and stop would repeat our own.
    package var forHTTPServer: Logger {
        var logger = self
        logger.logLevel = max(self.logLevel, .warning)
        return logger
    }
}
