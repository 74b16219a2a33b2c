package import HTTPTypes
package import NIOCore
package import NIOHTTPTypes

/// Admits the connections of an HTTP/1 listener to ``UnauthenticatedConnections``, and proves those whose requests prove something.
///
/// The bytes that came since the last answer count as held, from below the HTTP decoder, so that unfinished heads count too.
package final class UnauthenticatedRequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    private let connections: UnauthenticatedConnections
    private let listener: String
    private let isProof: @Sendable (HTTPRequest, HTTPResponse) -> Bool
    private var request: HTTPRequest?
    private var unproven: UnauthenticatedHandler?

    /// - Parameter isProof: whether this answer to this request proves the connection; asked at the head of each answer.
    package init(
        _ connections: UnauthenticatedConnections,
        listener: String,
        isProof: @escaping @Sendable (HTTPRequest, HTTPResponse) -> Bool
    ) {
        self.connections = connections
        self.listener = listener
        self.isProof = isProof
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        guard (try? self.connections.admit(context.channel, listener: self.listener)) == true else { return }
        self.unproven = try? pipeline.handler(type: UnauthenticatedHandler.self)
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.unproven = nil
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if self.unproven != nil, case .head(let request) = Self.unwrapInboundIn(data) { self.request = request }
        context.fireChannelRead(data)
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if let unproven {
            switch Self.unwrapOutboundIn(data) {
            case .head(let response):
                if let request = self.request.take(), self.isProof(request, response) {
                    self.unproven = nil
                    UnauthenticatedConnections.prove(context.channel)
                }
            case .end: unproven.startOver()
            case .body: break
            }
        }
        context.write(data, promise: promise)
    }
}
