package import NIOCore
package import NIOSSL
import NIOTLS

extension ChannelPipeline.SynchronousOperations {
    /// Adds TLS handlers to a connection that was just accepted.
    /// - Parameters:
    ///   - checksCertificates: Whether the handshake fails for an untrusted client certificate. If not, the handshake
    ///     only proves that the client has the key, and the certificate is checked later.
    ///   - deadline: The maximum time for the handshake, or `nil` if another handler limits it.
    package func addTLS(_ context: NIOSSLContext, checksCertificates: Bool, deadline: TimeAmount?) throws {
        if checksCertificates {
            try self.addHandler(NIOSSLServerHandler(context: context))
        } else {
            let handler = NIOSSLServerHandler(
                context: context,
                customVerificationCallback: { _, verified in verified.succeed(.certificateVerified) }
            )
            try self.addHandler(handler)
        }
        if let deadline { try self.addHandler(HandshakeDeadlineHandler(deadline: deadline)) }
    }
}

/// Closes a connection whose TLS handshake fails or exceeds its deadline.
private final class HandshakeDeadlineHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let deadline: TimeAmount
    private var timer: Scheduled<Void>?

    init(deadline: TimeAmount) { self.deadline = deadline }

    func handlerAdded(context: ChannelHandlerContext) {
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: self.deadline) {
            context.close(promise: nil)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        guard case .handshakeCompleted = event as? TLSUserEvent else { return }
        self.timer?.cancel()
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }
}

extension ChannelHandlerContext {
    /// Closes both sides of a connection, even if one is already closed.
    ///
    /// With half-closure allowed, NIOSSL does not take the client's closure alert as the reply to its own alert, and
    /// would wait for five seconds.
    package func closeBothSides() {
        try? self.channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: false)
        self.close(promise: nil)
    }
}
