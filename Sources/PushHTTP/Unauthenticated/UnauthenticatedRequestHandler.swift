package import HTTPTypes
package import NIOCore
package import NIOHTTPTypes

/// Admits the connections of an HTTP/1.1 listener to ``UnauthenticatedConnectionBudget``, and releases those that
/// become authenticated.
///
/// The bytes received since the last response count as retained. They are counted before the HTTP decoder, so that
/// incomplete request heads count as well.
package final class UnauthenticatedRequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    private let connections: UnauthenticatedConnectionBudget
    private let listener: String
    private let isAuthenticated: @Sendable (HTTPRequest, HTTPResponse) -> Bool
    private var request: HTTPRequest?
    /// The handler that tracks the connection, or `nil` once the connection is authenticated.
    private var unauthenticated: UnauthenticatedConnectionHandler?

    /// Creates the handler of one connection.
    /// - Parameter isAuthenticated: Returns `true` if a request and the head of its response show that the client is
    ///   authenticated.
    package init(
        _ connections: UnauthenticatedConnectionBudget,
        listener: String,
        isAuthenticated: @escaping @Sendable (HTTPRequest, HTTPResponse) -> Bool
    ) {
        (self.connections, self.listener, self.isAuthenticated) = (connections, listener, isAuthenticated)
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        self.unauthenticated = try? pipeline.handler(type: UnauthenticatedConnectionHandler.self)
        // With TLS, the connection was already admitted before its handshake.
        guard self.unauthenticated == nil,
            (try? self.connections.admit(context.channel, listener: self.listener)) == true
        else { return }
        self.unauthenticated = try? pipeline.handler(type: UnauthenticatedConnectionHandler.self)
    }

    package func handlerRemoved(context: ChannelHandlerContext) { self.unauthenticated = nil }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if self.unauthenticated != nil, case .head(let request) = Self.unwrapInboundIn(data) { self.request = request }
        context.fireChannelRead(data)
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if let unauthenticated {
            switch Self.unwrapOutboundIn(data) {
            case .head(let response):
                if let request = self.request.take(), self.isAuthenticated(request, response) {
                    self.unauthenticated = nil
                    UnauthenticatedConnectionBudget.markAuthenticated(context.channel)
                }
            case .end: unauthenticated.reset()
            case .body: break
            }
        }
        context.write(data, promise: promise)
    }
}
