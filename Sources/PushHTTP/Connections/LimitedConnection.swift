import NIOCore
import PushSupport

/// A connection that a ``ConnectionLimiter`` counts on an account.
final class LimitedConnection: Sendable {
    /// The cause for which a connection makes room for another one. The first one of those that some connection has decides.
    enum Cause: Int, Comparable {
        case idle, stalled, unfinished, unknown, crowded

        /// The cause in the log.
        var reason: String {
            switch self {
            case .idle: "it had no request"
            case .stalled: "its client has not read its response for a while"
            case .unfinished: "the rest of its request has not come for a while"
            case .unknown: "it had shown no valid credential"
            case .crowded: "its network had more of them than others"
            }
        }

        static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
    }

    let channel: any Channel
    let permit: BudgetPermit
    let opened: NIODeadline
    let activity: ConnectionActivity
    private let handler: NIOLoopBound<LimitedConnectionHandler>

    init(
        _ channel: any Channel,
        _ permit: BudgetPermit,
        _ handler: NIOLoopBound<LimitedConnectionHandler>,
        now: NIODeadline
    ) {
        (self.channel, self.permit, self.handler) = (channel, permit, handler)
        (self.opened, self.activity) = (now, ConnectionActivity(now: now))
    }

    /// Returns the time since which the client has not read its response; `nil` if nothing waits for it.
    func stalledSince(_ now: NIODeadline) -> NIODeadline? {
        self.activity.stalledSince(now: now, isWritable: self.channel.isWritable)
    }

    /// Closes the connection, on its event loop. A request that has come whole meanwhile, or come to an idle one, has a moment
    /// for its response, as the connection counts on no account any more.
    func close(_ cause: Cause) {
        self.handler.eventLoop.execute {
            guard self.hasRequest(since: cause) else { return self.handler.value.close() }
            self.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            self.handler.eventLoop.scheduleTask(in: ConnectionLimiter.minimumAge) { self.handler.value.close() }
        }
    }

    /// Returns `true` for a connection whose cause has passed since it was chosen.
    private func hasRequest(since cause: Cause) -> Bool {
        switch cause {
        case .idle: self.activity.idleSince == nil
        case .unfinished: !self.activity.isUnfinished
        case .stalled, .unknown, .crowded: false
        }
    }
}

/// The first handler of a limited connection. It passes everything on.
final class LimitedConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = Any

    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Closes the connection below TLS, without waiting for its peer.
    func close() { self.context?.close(promise: nil) }
}
