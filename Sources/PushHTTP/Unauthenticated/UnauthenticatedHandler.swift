package import NIOCore

/// A connection has shown a valid credential, or had a request accepted: a user event of the pipeline.
package struct ConnectionAuthenticated: Sendable {
    package init() {}
}

/// A connection ends because it has proven nothing: a user event of the pipeline, for a last word in the same turn.
package struct UnauthenticatedEnd: Sendable {
    package let cause: UnauthenticatedStateMachine.Cause
}

/// Stands first in the pipeline of a connection that has proven nothing, and tells ``UnauthenticatedConnections`` what it holds.
///
/// All bytes that came beyond ``allowance`` count as held, until a handler behind it says better (``hold(_:)``) or starts
/// anew (``startOver()``). With the proof it leaves the pipeline.
package final class UnauthenticatedHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer

    /// Bytes that count with the connection itself: of a handshake and a first packet. A crowd of honest clients that comes
    /// back at once holds nothing.
    package static let allowance = 8192

    /// Bytes that any greeting has: the start of a TLS handshake, or of a request.
    private static let greeting = 64

    let listener: String
    /// Given when the connection is admitted.
    var id: UnauthenticatedStateMachine.ID = 0
    private let owner: UnauthenticatedConnections
    /// Since the start, or since it was started over.
    private var received = 0
    private var reported = 0
    private var countsReads = true
    private var isSilent = true
    private var isOver = false
    private var context: ChannelHandlerContext?

    init(_ owner: UnauthenticatedConnections, listener: String) {
        self.owner = owner
        self.listener = listener
    }

    /// Is set while the connection has shown no credential.
    package var isUnproven: Bool { !self.isOver }

    /// What the connection holds now, in bytes, by the count of who holds it; reads are not counted any more.
    package func hold(_ bytes: Int) {
        self.countsReads = false
        self.report(bytes)
    }

    /// What came so far is done with.
    package func startOver() {
        self.received = 0
        self.report(0)
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

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
            if self.isSilent, self.received >= Self.greeting, !self.isOver {
                self.isSilent = false
                self.owner.heard(self.id)
            }
            self.report(max(0, self.received - Self.allowance))
        }
        context.fireChannelRead(data)
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is ConnectionAuthenticated else { return context.fireUserInboundEventTriggered(event) }
        guard !self.isOver else { return }
        self.leave()
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    /// Ends the connection below TLS: what proves nothing is not waited for.
    func end(_ cause: UnauthenticatedStateMachine.Cause) {
        guard let context, !self.isOver else { return }
        self.isOver = true
        context.fireUserInboundEventTriggered(UnauthenticatedEnd(cause: cause))
        context.close(promise: nil)
    }

    private func report(_ bytes: Int) {
        guard !self.isOver, bytes != self.reported else { return }
        self.reported = bytes
        self.owner.hold(self.id, bytes: bytes)
    }

    private func leave() {
        guard !self.isOver else { return }
        self.isOver = true
        self.owner.close(self.id)
    }
}
