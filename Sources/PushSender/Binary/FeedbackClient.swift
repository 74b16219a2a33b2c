import NIOCore
import NIOPosix
import NIOSSL
public import PushTypes
import PushWire

/// A client that reads the list of inactive tokens from a legacy feedback service (APNs reference 6). The service
/// clears the list once it has been read, so process each tuple as it arrives, even if an error follows.
public struct FeedbackClient: Sendable {
    /// The port of the feedback service.
    public static let defaultPort = 2196

    /// The maximum time without a byte from the service, including the TLS handshake. After that, the stream fails.
    /// Default 30 s.
    public var idleTimeout: Duration = .seconds(30)
    /// The maximum number of tuples that are read on one connection. A longer list fails the stream. Default 100,000.
    public var maximumTuples = 100_000
    private let connector: LegacyConnector

    /// Creates a client, which connects when ``tuples()`` is called.
    /// - Parameters:
    ///   - endpoint: The address of the feedback service, whose port is usually ``defaultPort``.
    ///   - certificate: The provider's certificate, which determines the topics and the environment.
    /// - Throws: ``CredentialError`` for a certificate that has expired or belongs to the other environment, or an
    ///   error of the TLS library if the endpoint's additional trust roots are not PEM certificates.
    public init(to endpoint: PushServiceEndpoint, certificate: ClientCertificate) throws {
        self.init(connector: try LegacyConnector(to: endpoint, certificate: certificate))
    }

    package init(connector: LegacyConnector) { self.connector = connector }

    /// Connects to the service, and returns the tuples as they arrive. The stream finishes when the service has sent
    /// the whole list. The stream fails with `FeedbackError`, or with an error of NIO if no connection can be opened.
    public func tuples() -> AsyncThrowingStream<FeedbackTuple, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: FeedbackTuple.self,
            bufferingPolicy: .bufferingOldest(max(1, self.maximumTuples))
        )
        let (timeout, limit) = (TimeAmount(self.idleTimeout), self.maximumTuples)
        self.connector.connect(on: MultiThreadedEventLoopGroup.singleton) { channel in
            let pipeline = channel.pipeline.syncOperations
            // In front of TLS, so that a handshake that never completes is detected as well.
            try pipeline.addHandler(IdleStateHandler(readTimeout: timeout), position: .first)
            try pipeline.addHandler(FeedbackClientHandler(limit: limit, tuples: continuation))
            continuation.onTermination = { _ in channel.close(promise: nil) }
        }
        .whenFailure { continuation.finish(throwing: $0) }
        return stream
    }
}

/// A handler that passes received bytes to ``FeedbackClientStateMachine``, and the resulting tuples to a stream.
private final class FeedbackClientHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var stateMachine: FeedbackClientStateMachine
    private let tuples: AsyncThrowingStream<FeedbackTuple, any Error>.Continuation
    private var isClean = true

    init(limit: Int, tuples: AsyncThrowingStream<FeedbackTuple, any Error>.Continuation) {
        self.stateMachine = FeedbackClientStateMachine(limit: limit)
        self.tuples = tuples
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.perform(self.stateMachine.receive(Self.unwrapInboundIn(data)), context: context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .read = event as? IdleStateHandler.IdleStateEvent {
            self.perform(self.stateMachine.timedOut(), context: context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case NIOSSLError.uncleanShutdown: self.isClean = false
        default: self.tuples.finish(throwing: error)
        }
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.perform(self.stateMachine.connectionClosed(isClean: self.isClean), context: context)
        context.fireChannelInactive()
    }

    private func perform(_ actions: [FeedbackClientStateMachine.Action], context: ChannelHandlerContext) {
        for action in actions {
            switch action {
            case .deliver(let tuple): self.tuples.yield(tuple)
            case .finish: self.tuples.finish()
            case .fail(let failure):
                self.tuples.finish(throwing: failure)
                context.close(promise: nil)
            }
        }
    }
}
