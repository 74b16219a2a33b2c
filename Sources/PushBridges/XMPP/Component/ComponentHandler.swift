import NIOCore

/// An event of a component's link to its server, which the link's handler passes to the service.
enum ComponentEvent: Hashable, Sendable {
    case established
    case request(ComponentRequest)
    /// The event that the component has left the server, after which the end of the connection is not a failure.
    case left
}

/// The outbound event by which the service requests that a link close its stream and connection after the last replies.
/// It is an event because a server that reads nothing could delay a write.
struct ComponentShutdown: Hashable, Sendable {}

/// Connects a channel to ``ComponentStateMachine``. A failure of the link becomes an error of the channel.
final class ComponentHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ComponentEvent
    typealias OutboundIn = ComponentResponse
    typealias OutboundOut = ByteBuffer

    private var stateMachine: ComponentStateMachine
    private var timer: Scheduled<Void>?
    /// A Boolean value that indicates whether a read is held back until the state machine allows more bytes.
    private var isReadHeld = false

    init(_ stateMachine: ComponentStateMachine) { self.stateMachine = stateMachine }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { self.start(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        self.start(context)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Self.unwrapInboundIn(data).readableBytesView
        self.perform(self.stateMachine.received(bytes, now: context.eventLoop.now), context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.timer = nil
        context.fireChannelInactive()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        self.perform(self.stateMachine.answered(Self.unwrapOutboundIn(data), now: context.eventLoop.now), context)
        promise?.succeed()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is ComponentShutdown else { return context.triggerUserOutboundEvent(event, promise: promise) }
        self.perform(self.stateMachine.leave(now: context.eventLoop.now), context)
        promise?.succeed()
    }

    func read(context: ChannelHandlerContext) {
        self.isReadHeld = !self.stateMachine.mayRead(now: context.eventLoop.now)
        if !self.isReadHeld { context.read() }
    }

    private func start(_ context: ChannelHandlerContext) {
        self.perform(self.stateMachine.connected(now: context.eventLoop.now), context)
    }

    private func perform(_ actions: [ComponentAction], _ context: ChannelHandlerContext) {
        for action in actions {
            switch action {
            case .write(let text):
                context.writeAndFlush(
                    Self.wrapOutboundOut(context.channel.allocator.buffer(string: text)),
                    promise: nil
                )
            case .established: context.fireChannelRead(Self.wrapInboundOut(.established))
            case .request(let request): context.fireChannelRead(Self.wrapInboundOut(.request(request)))
            case .close(let failure):
                if let failure {
                    context.fireErrorCaught(failure)
                } else {
                    context.fireChannelRead(Self.wrapInboundOut(.left))
                }
                context.close(promise: nil)
            }
        }
        self.schedule(context)
    }

    private func schedule(_ context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.timer = nil
        guard let deadline = self.stateMachine.deadline else { return }
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
            self.perform(self.stateMachine.timePassed(now: context.eventLoop.now), context)
            if self.isReadHeld { self.read(context: context) }
        }
    }
}
