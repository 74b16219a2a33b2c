package import NIOCore

/// A user event that reports that the connection has shown a valid credential, or that its request was accepted.
package struct ConnectionAuthenticated: Sendable {
    package init() {}
}

/// A user event that announces that the connection is about to be closed, because it is not authenticated.
///
/// A handler may write a last message within the same event loop tick.
package struct UnauthenticatedEnd: Sendable {
    package let cause: UnauthenticatedConnectionStateMachine.Cause
}

/// The first handler of an unauthenticated connection. It reports the memory that the connection takes to
/// ``UnauthenticatedConnectionBudget``.
///
/// All received bytes beyond ``allowance`` count as retained, until a later handler reports an exact number
/// (``hold(_:)``) or resets the count (``reset()``). The handler leaves the pipeline when the connection is
/// authenticated.
package final class UnauthenticatedConnectionHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer

    /// The number of received bytes that do not count as retained. It suffices for a handshake and a first packet, so
    /// that many honest clients that reconnect simultaneously do not use up the budget.
    package static let allowance = 8192

    /// The minimum length in bytes of a first message, which is the start of a TLS handshake or of a request.
    private static let minimumFirstMessage = 64

    let listener: String
    var id: UnauthenticatedConnectionStateMachine.ID = 0
    private let owner: UnauthenticatedConnectionBudget
    /// The number of bytes received since the start, or since the last reset.
    private var received = 0
    private var reported = 0
    private var countsReads = true
    private var isSilent = true
    private var hasEnded = false
    private var context: ChannelHandlerContext?

    init(_ owner: UnauthenticatedConnectionBudget, listener: String) { (self.owner, self.listener) = (owner, listener) }

    /// A Boolean value that indicates whether the connection is open and not authenticated yet.
    package var isUnauthenticated: Bool { !self.hasEnded }

    /// Reports the number of bytes that the connection currently retains. It replaces the count of received bytes.
    package func hold(_ bytes: Int) {
        self.countsReads = false
        self.report(bytes)
    }

    /// Resets the count of received bytes, because all of them have been processed.
    package func reset() {
        self.received = 0
        self.report(0)
    }

    package func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.leave()
        self.context = nil
    }

    package func channelInactive(context: ChannelHandlerContext) {
        self.leave()
        context.fireChannelInactive()
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if self.countsReads {
            self.received += Self.unwrapInboundIn(data).readableBytes
            if self.isSilent, self.received >= Self.minimumFirstMessage, !self.hasEnded {
                self.isSilent = false
                self.owner.firstMessageReceived(self.id)
            }
            self.report(max(0, self.received - Self.allowance))
        }
        context.fireChannelRead(data)
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is ConnectionAuthenticated else { return context.fireUserInboundEventTriggered(event) }
        guard !self.hasEnded else { return }
        self.leave()
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    func end(_ cause: UnauthenticatedConnectionStateMachine.Cause) {
        guard let context, !self.hasEnded else { return }
        self.hasEnded = true
        context.fireUserInboundEventTriggered(UnauthenticatedEnd(cause: cause))
        context.close(promise: nil)
    }

    private func report(_ bytes: Int) {
        guard !self.hasEnded, bytes != self.reported else { return }
        self.reported = bytes
        self.owner.hold(self.id, bytes: bytes)
    }

    private func leave() {
        guard !self.hasEnded else { return }
        self.hasEnded = true
        self.owner.close(self.id)
    }
}
