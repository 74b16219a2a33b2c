import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOSSL
import NIOTLS

/// The connections of a listener with TLS. They use HTTP/2 or HTTP/1.1, as negotiated with the client (ALPN).
///
/// A connection counts as unauthenticated from its first byte, including the handshake. The limits of HTTP/2 are those
/// of swift-nio-http2: 100 streams, a header list of 16 KiB, 5 consecutive CONTINUATION frames, and in 30 s 200 stream
/// resets and 200 frames such as PING. A connection that exceeds one of these rates is closed.
struct TLSServerChannel: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let channel: any Channel
        fileprivate let negotiated: EventLoopFuture<Negotiated>
    }

    fileprivate enum Negotiated: Sendable {
        case http1(HTTP1Channel.Value)
        case http2(HTTP2Channel.Value)
    }

    private typealias Negotiation = NIOTypedApplicationProtocolNegotiationHandler<Negotiated>

    let certificate: TLSCertificate
    let http1: HTTP1Channel
    let http2: HTTP2Channel
    let unauthenticated: UnauthenticatedConnectionBudget
    /// The limiter that charges connections to accounts, or `nil` if there is none.
    let held: ConnectionLimiter?
    let listener: String

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            try self.held?.admit(channel)
            guard try self.unauthenticated.admit(channel, listener: self.listener) else {
                throw ChannelError.alreadyClosed
            }
            ResponseDeadlineHandler.limitUnsentBytes(of: channel)
            let negotiation = Negotiation { result, channel in
                switch result {
                case .negotiated("h2"): self.http2.setup(channel: channel, logger: logger).map(Negotiated.http2)
                case .negotiated, .fallback:
                    self.http1.setup(channel: channel, logger: logger).flatMapThrowing { connection in
                        try HostFieldHandler.add(to: channel)
                        return Negotiated.http1(connection)
                    }
                }
            }
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(NIOSSLServerHandler(context: self.certificate.context))
            try pipeline.addHandler(negotiation)
            return Value(channel: channel, negotiated: negotiation.protocolNegotiationResult)
        }
    }

    func handle(value: Value, logger: Logger) async {
        // A connection that is closed before its handshake completes has no protocol.
        switch try? await value.negotiated.get() {
        case .http1(let connection): await self.http1.handle(value: connection, logger: logger)
        case .http2(let connection): await self.http2.handle(value: connection, logger: logger)
        case nil: break
        }
    }
}
