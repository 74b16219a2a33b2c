import NIOCore
import NIOPosix
package import NIOSSL
package import PushWire

/// Reads the list of apps that are gone from the legacy feedback service (reference 6).
///
/// The service clears the list once it is read: take care of each tuple as it comes, also when an error follows.
package struct FeedbackClient: Sendable {
    package var host: String
    /// 2196 by default (reference 6).
    package var port: Int
    /// The name the service's certificate must bear; `nil` means its address. ``host`` by default.
    package var serverName: String?
    /// Holds the provider's certificate: it selects app and environment.
    package var tls: NIOSSLContext
    /// Default 10 s.
    package var connectTimeout: Duration = .seconds(10)
    /// Longest time without a byte from the service, TLS included. Default 30 s.
    package var silence: Duration = .seconds(30)
    /// Tuples read on one connection, and kept until the caller takes them. Default 100,000.
    package var limit = 100_000

    package init(host: String, port: Int = 2196, tls: NIOSSLContext) {
        self.host = host
        self.port = port
        self.serverName = LegacyConnection.serverName(for: host)
        self.tls = tls
    }

    /// Connects and gives each tuple as it arrives; ends when the service closes in good order.
    ///
    /// The stream fails with ``FeedbackError``, or with what NIO says of a connection that does not come about.
    package func tuples() -> AsyncThrowingStream<FeedbackTuple, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: FeedbackTuple.self,
            bufferingPolicy: .bufferingOldest(max(1, self.limit))
        )
        let (silence, limit) = (TimeAmount(self.silence), self.limit)
        LegacyConnection.bootstrap(
            on: MultiThreadedEventLoopGroup.singleton,
            tls: self.tls,
            serverName: self.serverName,
            connectTimeout: self.connectTimeout
        ) { channel in
            let pipeline = channel.pipeline.syncOperations
            // In front of TLS, so that a handshake that never ends is silence too.
            try pipeline.addHandler(IdleStateHandler(readTimeout: silence), position: .first)
            try pipeline.addHandler(FeedbackHandler(limit: limit, tuples: continuation))
            continuation.onTermination = { _ in channel.close(promise: nil) }
        }
        .connect(host: self.host, port: self.port)
        .whenFailure { continuation.finish(throwing: $0) }
        return stream
    }
}

/// Why a feedback list ended before its end.
package enum FeedbackError: Error, Hashable, Sendable {
    /// The bytes are no list.
    case malformed(tokenLength: Int)
    /// The connection ended in the middle of a tuple, or without TLS saying so: there was more.
    case truncated
    /// Nothing came for longer than ``FeedbackClient/silence``.
    case silent
    /// More than ``FeedbackClient/limit`` tuples.
    case tooMany
}

/// Reads tuples off a connection and hands them on, until its end or the first thing that is wrong.
private final class FeedbackHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let limit: Int
    private let tuples: AsyncThrowingStream<FeedbackTuple, any Error>.Continuation
    private var received = ByteBuffer()
    private var count = 0

    init(limit: Int, tuples: AsyncThrowingStream<FeedbackTuple, any Error>.Continuation) {
        self.limit = limit
        self.tuples = tuples
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.received.writeImmutableBuffer(Self.unwrapInboundIn(data))
        do {
            while let tuple = try FeedbackTuple.read(from: &self.received) {
                self.count += 1
                guard self.count <= self.limit else { return self.fail(.tooMany, context: context) }
                self.tuples.yield(tuple)
            }
            self.received.discardReadBytes()
        } catch {
            self.fail(.malformed(tokenLength: error.tokenLength), context: context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .read = event as? IdleStateHandler.IdleStateEvent { self.fail(.silent, context: context) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case NIOSSLError.uncleanShutdown: self.tuples.finish(throwing: FeedbackError.truncated)
        default: self.tuples.finish(throwing: error)
        }
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if self.received.readableBytes > 0 {
            self.tuples.finish(throwing: FeedbackError.truncated)
        } else {
            self.tuples.finish()
        }
        context.fireChannelInactive()
    }

    /// What comes after the first error no longer counts.
    private func fail(_ error: FeedbackError, context: ChannelHandlerContext) {
        self.tuples.finish(throwing: error)
        self.received.clear()
        context.close(promise: nil)
    }
}
