import NIOCore
import NIOHTTPTypes
import Synchronization

/// The requests that a connection has in flight, and the time since which nothing moves on it.
///
/// It is written on the event loop of the connection, and read from anywhere.
final class ConnectionActivity: Sendable {
    /// The time after which a response whose bytes wait for the client counts as stalled.
    static let stall: TimeAmount = .seconds(10)

    private let requests = Atomic<Int>(0)
    private let begun = Atomic<Bool>(false)
    /// The number of requests whose response is written, and not yet taken by the socket.
    private let ending = Atomic<Int>(0)
    private let moved: Atomic<UInt64>

    init(now: NIODeadline) { self.moved = Atomic(now.uptimeNanoseconds) }

    /// Indicates whether the connection has, or has had, a request.
    var hasBegun: Bool { self.begun.load(ordering: .relaxed) }

    /// The time since which the connection has no request; `nil` while it has one.
    var idleSince: NIODeadline? { self.requests.load(ordering: .relaxed) == 0 ? self.movedAt : nil }

    /// Returns the time since which the client has taken nothing of what waits for it; `nil` for a connection on which bytes move,
    /// and for one with a quiet response, such as a stream of events.
    /// - Parameter isWritable: Whether the connection takes more bytes.
    func stalledSince(now: NIODeadline, isWritable: Bool) -> NIODeadline? {
        let requests = self.requests.load(ordering: .relaxed)
        guard requests > 0, !isWritable || self.ending.load(ordering: .relaxed) == requests else { return nil }
        let moved = self.movedAt
        return now - moved >= Self.stall ? moved : nil
    }

    private var movedAt: NIODeadline { .uptimeNanoseconds(self.moved.load(ordering: .relaxed)) }

    func requestBegan(now: NIODeadline) {
        self.requests.add(1, ordering: .relaxed)
        self.begun.store(true, ordering: .relaxed)
        self.responseMoved(now: now)
    }

    func responseMoved(now: NIODeadline) { self.moved.store(now.uptimeNanoseconds, ordering: .relaxed) }

    func responseWritten(now: NIODeadline) {
        self.ending.add(1, ordering: .relaxed)
        self.responseMoved(now: now)
    }

    /// Notes the end of requests.
    /// - Parameter written: The number of those whose response was written.
    func requestsEnded(_ count: Int, written: Int, now: NIODeadline) {
        // Before the count, so that no connection seems to be idle since its last but one request.
        self.responseMoved(now: now)
        self.ending.subtract(written, ordering: .relaxed)
        self.requests.subtract(count, ordering: .releasing)
    }
}

/// Notes the activity of a connection of HTTP/1.1, or of a stream of HTTP/2 for its connection.
final class ConnectionActivityHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let held: HeldConnections
    /// `nil` for a connection that is not held any more.
    private var activity: ConnectionActivity?
    /// The number of requests whose response is not written.
    private var unanswered = 0
    /// The number of responses that are written, and not yet taken by the socket.
    private var ending = 0

    init(_ held: HeldConnections) { self.held = held }

    func handlerAdded(context: ChannelHandlerContext) { self.activity = self.held.activity(of: context.channel) }

    func handlerRemoved(context: ChannelHandlerContext) {
        let activity = self.activity.take()
        activity?.requestsEnded(self.unanswered + self.ending, written: self.ending, now: context.eventLoop.now)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = Self.unwrapInboundIn(data) {
            self.unanswered += 1
            self.activity?.requestBegan(now: context.eventLoop.now)
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Self.unwrapOutboundIn(data) {
        case .head, .body: self.activity?.responseMoved(now: context.eventLoop.now)
        case .end where self.unanswered > 0:
            self.unanswered -= 1
            self.ending += 1
            self.activity?.responseWritten(now: context.eventLoop.now)
            let promise = promise ?? context.eventLoop.makePromise()
            promise.futureResult.assumeIsolated().whenComplete { _ in
                self.ending -= 1
                self.activity?.requestsEnded(1, written: 1, now: context.eventLoop.now)
            }
            return context.write(data, promise: promise)
        case .end: break
        }
        context.write(data, promise: promise)
    }
}
