import NIOCore
import NIOHTTPTypes
import Synchronization

/// The requests that a connection has in flight, and the times since which it is idle, stalled or unfinished.
///
/// It is written on the event loop of the connection, and read from any thread. Only bytes that the client takes count
/// as movement. Further requests do not count, because overlapping requests on HTTP/2 could keep a connection open for
/// ever. Unfinished requests have a time of their own, which no response moves.
final class ConnectionActivity: Sendable {
    /// The time after which a response whose bytes wait for the client counts as stalled.
    static let stall: TimeAmount = .seconds(10)
    /// The time after which an incomplete request counts as unfinished. It also passes while the server does not read
    /// the body, because the checks before that take less.
    static let arrival: TimeAmount = .seconds(2)
    /// The number of bytes of a body after which the time ``arrival`` begins anew.
    static let bodyStep = 16 * 1024

    private let requests = Atomic<Int>(0)
    private let begun = Atomic<Bool>(false)
    /// The number of incomplete requests, without those that have a minimum rate (``StreamedBody``).
    private let unfinished = Atomic<Int>(0)
    /// The number of parts of response bodies that are written but not yet taken by the socket.
    private let bodies = Atomic<Int>(0)
    /// The number of requests whose response is written but not yet taken by the socket.
    private let ending = Atomic<Int>(0)
    private let moved: Atomic<UInt64>
    /// The time since which the client owes the rest of its requests: the start of the first incomplete one, or the
    /// arrival of the last ``bodyStep`` bytes of a body.
    private let owed: Atomic<UInt64>

    init(now: NIODeadline) {
        self.moved = Atomic(now.uptimeNanoseconds)
        self.owed = Atomic(now.uptimeNanoseconds)
    }

    /// Indicates whether the connection has had a request.
    var hasBegun: Bool { self.begun.load(ordering: .relaxed) }

    /// The time since which the connection has no request; `nil` while it has one.
    var idleSince: NIODeadline? { self.requests.load(ordering: .acquiring) == 0 ? self.movedAt : nil }

    /// Indicates whether the connection has requests, all of them incomplete.
    var isUnfinished: Bool {
        let requests = self.requests.load(ordering: .acquiring)
        guard requests > 0, self.unfinished.load(ordering: .acquiring) == requests else { return false }
        // Another request may have begun between the two loads.
        return self.requests.load(ordering: .relaxed) == requests
    }

    /// Returns the time since which the client has taken none of the bytes that wait for it. Returns `nil` if no bytes
    /// wait, such as between the events of a stream.
    /// - Parameter isWritable: Whether the connection takes more bytes.
    func stalledSince(now: NIODeadline, isWritable: Bool) -> NIODeadline? {
        let requests = self.requests.load(ordering: .acquiring)
        let (ending, unfinished) = (self.ending.load(ordering: .relaxed), self.unfinished.load(ordering: .acquiring))
        guard requests > 0, !isWritable || (ending > 0 && ending + unfinished == requests),
            self.requests.load(ordering: .relaxed) == requests
        else { return nil }
        let moved = self.movedAt
        return now - moved >= Self.stall ? moved : nil
    }

    /// Returns the time since which the client owes the rest of all its requests. Returns `nil` if one of them is
    /// complete, or if their bodies arrive fast enough.
    func unfinishedSince(now: NIODeadline) -> NIODeadline? {
        guard self.isUnfinished else { return nil }
        let owed = NIODeadline.uptimeNanoseconds(self.owed.load(ordering: .relaxed))
        return now - owed >= Self.arrival ? owed : nil
    }

    private var movedAt: NIODeadline { .uptimeNanoseconds(self.moved.load(ordering: .relaxed)) }

    // MARK: Requests

    func requestBegan(now: NIODeadline) {
        if self.requests.load(ordering: .relaxed) == 0 { self.bytesMoved(now: now) }
        if self.unfinished.load(ordering: .relaxed) == 0 { self.bodyCame(now: now) }
        self.begun.store(true, ordering: .relaxed)
        // The count follows the times, so that no connection seems to be unfinished since an earlier request.
        self.requests.add(1, ordering: .releasing)
        self.unfinished.add(1, ordering: .releasing)
    }

    /// Records that a request is complete or has a minimum rate.
    func requestCame() { self.unfinished.subtract(1, ordering: .relaxed) }

    /// Notes that ``bodyStep`` bytes of a body have arrived.
    func bodyCame(now: NIODeadline) { self.owed.store(now.uptimeNanoseconds, ordering: .relaxed) }

    /// Records that the client has taken a part of a response.
    func bytesMoved(now: NIODeadline) { self.moved.store(now.uptimeNanoseconds, ordering: .relaxed) }

    // MARK: Responses

    func bodyWritten(now: NIODeadline) {
        self.waitBegan(now: now)
        self.bodies.add(1, ordering: .relaxed)
    }

    func bodyEnded(isTaken: Bool, now: NIODeadline) {
        if isTaken { self.bytesMoved(now: now) }
        self.bodies.subtract(1, ordering: .relaxed)
    }

    func responseWritten(now: NIODeadline) {
        self.waitBegan(now: now)
        self.ending.add(1, ordering: .relaxed)
    }

    /// Records the end of requests.
    /// - Parameters:
    ///   - written: The number of those whose response was written.
    ///   - unfinished: The number of those that are incomplete.
    ///   - isTaken: Whether the client has taken the bytes that were written.
    func requestsEnded(_ count: Int, written: Int, unfinished: Int = 0, isTaken: Bool, now: NIODeadline) {
        guard count > 0 else { return }
        // The time precedes the count, so that no connection seems to be idle since an earlier request.
        if isTaken || self.requests.load(ordering: .relaxed) == count { self.bytesMoved(now: now) }
        self.ending.subtract(written, ordering: .relaxed)
        self.unfinished.subtract(unfinished, ordering: .relaxed)
        self.requests.subtract(count, ordering: .releasing)
    }

    /// Begins the time in which the client must take bytes, unless it has begun.
    private func waitBegan(now: NIODeadline) {
        guard self.bodies.load(ordering: .relaxed) == 0, self.ending.load(ordering: .relaxed) == 0 else { return }
        self.bytesMoved(now: now)
    }
}

/// Records the activity of an HTTP/1.1 connection, or of an HTTP/2 stream for its connection.
final class ConnectionActivityHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let held: ConnectionLimiter
    /// The activity of the connection, `nil` once the connection counts on no account.
    private var activity: ConnectionActivity?
    /// The number of requests whose response is not written.
    private var unanswered = 0
    /// The number of responses that are written but not yet taken by the socket.
    private var ending = 0
    /// Indicates whether the last request is incomplete. A request with a minimum rate counts as complete.
    private var isUnfinished = false
    /// The number of bytes of the last request's body since progress was last noted.
    private var received = 0

    init(_ held: ConnectionLimiter) { self.held = held }

    func handlerAdded(context: ChannelHandlerContext) { self.activity = self.held.activity(of: context.channel) }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.activity.take()?.requestsEnded(
            self.unanswered + self.ending,
            written: self.ending,
            unfinished: self.isUnfinished ? 1 : 0,
            isTaken: false,
            now: context.eventLoop.now
        )
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head:
            self.unanswered += 1
            (self.isUnfinished, self.received) = (true, 0)
            self.activity?.requestBegan(now: context.eventLoop.now)
        case .body(let bytes):
            self.received += bytes.readableBytes
            if self.received >= ConnectionActivity.bodyStep {
                self.received = 0
                self.activity?.bodyCame(now: context.eventLoop.now)
            }
        case .end: self.requestCame()
        }
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A streamed body has a minimum rate instead.
        if event is StreamedBody { self.requestCame() }
        context.fireUserInboundEventTriggered(event)
    }

    private func requestCame() {
        guard self.isUnfinished else { return }
        self.isUnfinished = false
        self.activity?.requestCame()
    }

    // MARK: Responses

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard let activity else { return context.write(data, promise: promise) }
        switch Self.unwrapOutboundIn(data) {
        case .body:
            activity.bodyWritten(now: context.eventLoop.now)
            let promise = promise ?? context.eventLoop.makePromise()
            promise.futureResult.assumeIsolated().whenComplete { result in
                activity.bodyEnded(isTaken: Self.isSuccess(result), now: context.eventLoop.now)
            }
            context.write(data, promise: promise)
        case .end where self.unanswered > 0:
            self.unanswered -= 1
            self.ending += 1
            // The rest of a request that has a response is discarded.
            if self.unanswered == 0 { self.requestCame() }
            activity.responseWritten(now: context.eventLoop.now)
            let promise = promise ?? context.eventLoop.makePromise()
            promise.futureResult.assumeIsolated().whenComplete { result in
                self.ending -= 1
                self.activity?.requestsEnded(1, written: 1, isTaken: Self.isSuccess(result), now: context.eventLoop.now)
            }
            context.write(data, promise: promise)
        case .head, .end: context.write(data, promise: promise)
        }
    }

    private static func isSuccess(_ result: Result<Void, any Error>) -> Bool {
        if case .success = result { true } else { false }
    }
}
