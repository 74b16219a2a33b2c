package import HTTPTypes
package import NIOCore
package import NIOHTTPTypes

/// Admits the connections of an HTTP/1.1 listener to ``UnauthenticatedConnectionBudget``, and releases those that are
/// authenticated.
///
/// The bytes received since the last response count as held. They are counted below the HTTP decoder, so that
/// unfinished heads count too.
package final class UnauthenticatedRequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    private let connections: UnauthenticatedConnectionBudget
    private let listener: String
    private let isAuthenticated: @Sendable (HTTPRequest, HTTPResponse) -> Bool
    private var request: HTTPRequest?
    /// The handler of the unauthenticated connection, `nil` once it is authenticated.
    private var unauthenticated: UnauthenticatedConnectionHandler?

    /// - Parameter isAuthenticated: Returns `true` if this response to this request shows that its client is
    ///   authenticated. It is called at the head of each response.
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
        // With TLS the connection was admitted before its handshake.
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
