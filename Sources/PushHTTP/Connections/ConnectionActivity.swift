import NIOCore
import NIOHTTPTypes
import Synchronization

/// The number of requests in flight on a connection, and the times at which it became idle or last made progress.
///
/// It is updated on the connection's event loop and read from any thread. Only bytes that the client reads count as
/// progress. Further requests do not, because overlapping requests on HTTP/2 could keep a connection open forever.
/// Unfinished requests have a separate time, which responses do not reset.
final class ConnectionActivity: Sendable {
    /// The time after which a response counts as stalled, if the client reads none of its waiting bytes.
    static let stall: TimeAmount = .seconds(10)
    /// The time after which an incomplete request counts as unfinished. The time also runs while the server does not
    /// read the body, because the checks before that take less time.
    static let arrival: TimeAmount = .seconds(2)
    /// The number of body bytes whose arrival restarts the time ``arrival``.
    static let bodyStep = 16 * 1024

    private let requests = Atomic<Int>(0)
    private let begun = Atomic<Bool>(false)
    /// The number of incomplete requests, except those with a minimum rate (``StreamedBody``).
    private let unfinished = Atomic<Int>(0)
    /// The number of response body parts that were written but not yet taken by the socket.
    private let bodies = Atomic<Int>(0)
    private let ending = Atomic<Int>(0)
    private let moved: Atomic<UInt64>
    /// The time of the last progress in the client's requests: the start of the first incomplete request, or the
    /// arrival of the last ``bodyStep`` bytes of a body.
    private let owed: Atomic<UInt64>

    init(now: NIODeadline) {
        self.moved = Atomic(now.uptimeNanoseconds)
        self.owed = Atomic(now.uptimeNanoseconds)
    }

    var hasBegun: Bool { self.begun.load(ordering: .relaxed) }

    /// The time at which the connection became idle, because it was opened or its last request ended, or `nil` while a
    /// request is in flight.
    var idleSince: NIODeadline? { self.requests.load(ordering: .acquiring) == 0 ? self.movedAt : nil }

    /// A Boolean value that indicates whether the connection has requests in flight, all of which are incomplete.
    var isUnfinished: Bool {
        let requests = self.requests.load(ordering: .acquiring)
        guard requests > 0, self.unfinished.load(ordering: .acquiring) == requests else { return false }
        // Another request may have started between the two loads.
        return self.requests.load(ordering: .relaxed) == requests
    }

    /// Returns the time at which the client last read some of the bytes that wait for it. Returns `nil` if no bytes
    /// wait, such as between the events of a stream, or if the time is less than ``stall`` ago.
    /// - Parameter isWritable: Whether the connection accepts further bytes for writing.
    func stalledSince(now: NIODeadline, isWritable: Bool) -> NIODeadline? {
        let requests = self.requests.load(ordering: .acquiring)
        let (ending, unfinished) = (self.ending.load(ordering: .relaxed), self.unfinished.load(ordering: .acquiring))
        guard requests > 0, !isWritable || (ending > 0 && ending + unfinished == requests),
            self.requests.load(ordering: .relaxed) == requests
        else { return nil }
        let moved = self.movedAt
        return now - moved >= Self.stall ? moved : nil
    }

    /// Returns the time of the last progress in the incomplete requests. Returns `nil` if a request is complete or none
    /// is in flight, or if the progress is less than ``arrival`` ago.
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
        // The count is increased after the times are set, so that they never belong to an earlier request.
        self.requests.add(1, ordering: .releasing)
        self.unfinished.add(1, ordering: .releasing)
    }

    /// Records that a request no longer counts as incomplete: it has arrived, or a minimum rate applies to it.
    func requestCame() { self.unfinished.subtract(1, ordering: .relaxed) }

    func bodyCame(now: NIODeadline) { self.owed.store(now.uptimeNanoseconds, ordering: .relaxed) }

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

    /// Records that `count` requests have finished.
    /// - Parameters:
    ///   - written: The number of finished requests whose response was written.
    ///   - unfinished: The number of finished requests that are still incomplete.
    ///   - isTaken: Whether the socket has taken the written bytes.
    func requestsEnded(_ count: Int, written: Int, unfinished: Int = 0, isTaken: Bool, now: NIODeadline) {
        guard count > 0 else { return }
        // The time is set before the count is decreased, so that no connection seems idle since an earlier request.
        if isTaken || self.requests.load(ordering: .relaxed) == count { self.bytesMoved(now: now) }
        self.ending.subtract(written, ordering: .relaxed)
        self.unfinished.subtract(unfinished, ordering: .relaxed)
        self.requests.subtract(count, ordering: .releasing)
    }

    /// Starts the time within which the client must read bytes, unless bytes are already waiting.
    private func waitBegan(now: NIODeadline) {
        guard self.bodies.load(ordering: .relaxed) == 0, self.ending.load(ordering: .relaxed) == 0 else { return }
        self.bytesMoved(now: now)
    }
}

/// Updates the activity of an HTTP/1.1 connection, or of the HTTP/2 connection to which a stream belongs.
final class ConnectionActivityHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let held: ConnectionLimiter
    /// The activity of the connection, or `nil` once the connection is no longer charged to an account.
    private var activity: ConnectionActivity?
    private var unanswered = 0
    private var ending = 0
    /// A Boolean value that indicates whether the latest request is incomplete. A request with a minimum rate counts as
    /// complete.
    private var isUnfinished = false
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
            // The rest of a request that already has its response is discarded.
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
