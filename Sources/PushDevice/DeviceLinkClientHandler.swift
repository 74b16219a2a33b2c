import NIOCore
import PushSupport
import PushTypes
import PushWire
import Synchronization

/// Passes received bytes to ``DeviceLinkClientStateMachine``, and the resulting events to the session.
final class DeviceLinkClientHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Event: Sendable {
        case connected(baseToken: [UInt8]?)
        case message(DeviceLinkMessage)
        case scopedToken(DeviceLinkTokenResponse)
        case nothingStored(token: [UInt8])
        case channel(DeviceLinkChannelResponse)
        case closed(DeviceLinkClientStateMachine.CloseReason)
        /// The event of a failed connection. The string is the error, such as an untrusted certificate of the service.
        case failed(String)

        /// The number of bytes of the event's tokens, payload and strings, by which ``UnreadBytes`` counts it.
        var size: Int {
            switch self {
            case .connected(let baseToken): baseToken?.count ?? 0
            case .message(let message): message.token.count + message.payload.readableBytes + message.texts
            case .scopedToken(let response): response.token.count
            case .nothingStored(let token): token.count
            case .channel(let response): response.channel.utf8.count
            case .closed: 0
            case .failed(let text): text.utf8.count
            }
        }
    }

    private var stateMachine: DeviceLinkClientStateMachine
    private let connect: DeviceLinkConnectRequest
    private let time: any TimeSource
    private let events: AsyncStream<Event>.Continuation
    private let unread: UnreadBytes
    private var timer: Scheduled<Void>?

    init(
        limits: DeviceLinkClientStateMachine.Limits,
        connect: DeviceLinkConnectRequest,
        time: any TimeSource,
        events: AsyncStream<Event>.Continuation,
        unread: UnreadBytes = UnreadBytes()
    ) {
        self.stateMachine = DeviceLinkClientStateMachine(limits: limits)
        (self.connect, self.time, self.events, self.unread) = (connect, time, events, unread)
    }

    /// Sends the first packet immediately. TLS buffers it until its handshake is done.
    func handlerAdded(context: ChannelHandlerContext) {
        self.perform(self.stateMachine.start(self.connect, now: self.time.steady), context: context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let actions = self.stateMachine.receive(Self.unwrapInboundIn(data), now: self.time.steady)
        self.perform(actions, context: context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.events.finish()
        context.fireChannelInactive()
    }

    /// Finishes the stream of events, even if the connection was closed before this handler was added to it.
    func handlerRemoved(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.events.finish()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.yield(.failed("\(error)"), context: context)
        context.close(promise: nil)
    }

    private func perform(_ actions: [DeviceLinkClientStateMachine.Action], context: ChannelHandlerContext) {
        for action in actions {
            switch action {
            case .send(let packet): context.writeAndFlush(Self.wrapOutboundOut(packet.encoded), promise: nil)
            case .connected(let baseToken): self.yield(.connected(baseToken: baseToken), context: context)
            case .deliver(let message): self.yield(.message(message), context: context)
            case .scopedToken(let response): self.yield(.scopedToken(response), context: context)
            case .channel(let response): self.yield(.channel(response), context: context)
            case .nothingStored(let token): self.yield(.nothingStored(token: token), context: context)
            case .close(let reason):
                self.yield(.closed(reason), context: context)
                context.close(promise: nil)
            }
        }
        self.schedule(context: context)
    }

    /// Passes an event to the session, or closes the connection if too many events or bytes wait. The push service
    /// sends unacknowledged messages again on the next connection.
    private func yield(_ event: Event, context: ChannelHandlerContext) {
        guard self.unread.add(event.size) else { return context.close(promise: nil) }
        if case .dropped = self.events.yield(event) { context.close(promise: nil) }
    }

    private func schedule(context: ChannelHandlerContext) {
        self.timer?.cancel()
        guard let deadline = self.stateMachine.nextDeadline else { return }
        let delay = max(.zero, deadline.since(self.time.steady))
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) {
            self.perform(self.stateMachine.tick(now: self.time.steady), context: context)
        }
    }
}

extension DeviceLinkMessage {
    fileprivate var texts: Int {
        [self.apnsID, self.pushType, self.collapseID, self.channelID].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    }
}

/// Counts the bytes in the events that a session has not processed yet.
final class UnreadBytes: Sendable {
    /// The maximum number of unread bytes: 8 MiB. An event beyond it closes the connection.
    static let maximum = 8 << 20

    private let count = Mutex(0)

    /// Adds the bytes of an event.
    /// - Returns: `false`, without adding them, if they would exceed ``maximum``.
    func add(_ bytes: Int) -> Bool {
        self.count.withLock { count in
            guard bytes <= Self.maximum - count else { return false }
            count += bytes
            return true
        }
    }

    func remove(_ bytes: Int) { self.count.withLock { $0 -= bytes } }
}
