import NIOCore
import NIOSSL
import NIOTLS
import PushSupport

/// Passes the events of a session's connection, such as received bytes, to the runner of the session.
final class ChatConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let runner: SessionRunner
    /// The number of the connection, by which the runner ignores events of earlier connections.
    private let number: Int
    /// The protocol's state machine, or `nil` once the connection has opened and the runner has the machine.
    private var session: (any ChatSession)?
    /// A value that is resolved when the TLS handshake completes, or when the connection is closed before that.
    private let handshake: OneShotValue<Void>

    private init(_ runner: SessionRunner, number: Int, session: any ChatSession, handshake: OneShotValue<Void>) {
        (self.runner, self.number, self.session) = (runner, number, session)
        self.handshake = handshake
    }

    /// Returns the handlers that follow TLS in the pipeline of a connection. The last one is of this class.
    ///
    /// If a server stops reading, the client stops reading from it too, because the bytes that wait to be sent would
    /// otherwise grow without limit. The session's deadline ends such a connection.
    static func handlers(
        of runner: SessionRunner,
        number: Int,
        session: any ChatSession,
        handshake: OneShotValue<Void>
    ) -> [any ChannelHandler] {
        [BackPressureHandler(), ChatConnectionHandler(runner, number: number, session: session, handshake: handshake)]
    }

    func handlerAdded(context: ChannelHandlerContext) { self.runner.adopt(context.channel, self.number) }

    func handlerRemoved(context: ChannelHandlerContext) { self.handshake.resolve(.success(())) }

    func channelActive(context: ChannelHandlerContext) {
        if let session, !session.isSecureFromStart { self.open(session) }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent {
            self.handshake.resolve(.success(()))
            if let session { self.open(session) } else { self.runner.secured(self.number) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func open(_ session: any ChatSession) {
        self.session = nil
        self.runner.opened(session, self.number)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.runner.received(Self.unwrapInboundIn(data), self.number)
    }

    func read(context: ChannelHandlerContext) {
        if self.runner.mayRead(self.number) { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Many servers close the connection without a closure alert of TLS.
        let isEnd = if case .uncleanShutdown? = error as? NIOSSLError { true } else { false }
        let failure = isEnd ? nil : ChatFailure("the connection failed: \(ErrorDescription.of(error).prefix(300))")
        self.runner.closed(failure, self.number)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.runner.closed(nil, self.number)
        context.fireChannelInactive()
    }
}
