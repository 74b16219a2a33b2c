package import NIOCore
package import NIOHTTPTypes
import PushSupport

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Closes a connection whose client does not read a response in time. ``RequestBodyHandler`` limits the time of
/// requests.
///
/// Each piece of ``pieceSize`` bytes has one deadline. A client that reads faster gains time, up to ``maximumGain``
/// deadlines, because some clients read megabytes in one go and then nothing for a minute. The socket's buffer of
/// unsent bytes is kept small, so that a client that stops reading is noticed early.
package final class ResponseDeadlineHandler: ChannelOutboundHandler, RemovableChannelHandler {
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    /// The maximum length of a piece, in bytes. Longer parts of a response are written as several pieces.
    static let pieceSize = 64 * 1024
    /// The maximum time that a fast client gains, as a multiple of the deadline.
    static let maximumGain: Int64 = 10
    /// The maximum number of unsent bytes that the socket accepts. Bytes in flight do not count.
    ///
    /// Without this limit, the socket accepts up to 4 MB and then nothing until most of them are sent, which takes
    /// minutes with a slow client.
    static let maximumUnsent = 128 * 1024
    static let unsentOption = NIOBSDSocket.Option(rawValue: TCP_NOTSENT_LOWAT)

    private let deadline: TimeAmount
    private let transport: HTTPTransport
    private var pendingPieces = 0
    /// The promises of ``WrittenPartsTaken`` events that wait until no piece is pending.
    private var waiters: [EventLoopPromise<Void>] = []
    private var timer: Scheduled<Void>?
    /// The time by which the socket must accept the next piece. Time that the client gains during one response also
    /// counts for the next response.
    private var pieceDeadline = NIODeadline.uptimeNanoseconds(0)

    /// Creates a handler.
    /// - Parameter deadline: The maximum time for each piece of a response.
    package init(deadline: TimeAmount, transport: HTTPTransport = .connection) {
        (self.deadline, self.transport) = (deadline, transport)
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        if self.transport == .connection { Self.limitUnsentBytes(of: context.channel) }
    }

    /// Limits the number of unsent bytes that the socket of a connection accepts.
    static func limitUnsentBytes(of channel: any Channel) {
        // Only TCP connections have this option.
        try? channel.syncOptions?.setOption(.tcpOption(Self.unsentOption), value: Self.maximumUnsent)
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .body(var rest) = Self.unwrapOutboundIn(data) else {
            return self.write(data, promise, context)
        }
        while rest.readableBytes > Self.pieceSize, let piece = rest.readSlice(length: Self.pieceSize) {
            self.write(Self.wrapOutboundOut(.body(piece)), nil, context, bytes: Self.pieceSize)
        }
        let last = rest.readableBytes
        self.write(Self.wrapOutboundOut(.body(rest)), promise, context, bytes: last)
    }

    private func write(
        _ data: NIOAny,
        _ promise: EventLoopPromise<Void>?,
        _ context: ChannelHandlerContext,
        bytes: Int = 0
    ) {
        let promise = promise ?? context.eventLoop.makePromise()
        self.pendingPieces += 1
        if self.pendingPieces == 1 {
            self.pieceDeadline = max(self.pieceDeadline, context.eventLoop.now + self.deadline)
            self.startTimer(context)
        }
        promise.futureResult.assumeIsolated().whenComplete { _ in
            self.pendingPieces -= 1
            self.pieceWritten(bytes, at: context.eventLoop.now)
            guard self.pendingPieces == 0 else { return }
            self.timer?.cancel()
            self.endWaiting()
        }
        context.write(data, promise: promise)
    }

    package func triggerUserOutboundEvent(
        context: ChannelHandlerContext,
        event: Any,
        promise: EventLoopPromise<Void>?
    ) {
        guard event is WrittenPartsTaken else { return context.triggerUserOutboundEvent(event, promise: promise) }
        guard let promise else { return }
        self.waiters.append(promise)
        if self.pendingPieces == 0 { self.endWaiting() }
    }

    private func endWaiting() {
        let waiters = self.waiters
        self.waiters = []
        for waiter in waiters { waiter.succeed() }
    }

    private func pieceWritten(_ bytes: Int, at now: NIODeadline) {
        let gained = TimeAmount.nanoseconds(self.deadline.nanoseconds / Int64(Self.pieceSize) * Int64(bytes))
        let extended = min(self.pieceDeadline + gained, now + self.deadline * Self.maximumGain)
        self.pieceDeadline = max(now + self.deadline, extended)
    }

    private func startTimer(_ context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: self.pieceDeadline) {
            // The deadline may have been extended since.
            if context.eventLoop.now < self.pieceDeadline {
                self.startTimer(context)
            } else {
                self.end(context)
            }
        }
    }

    /// Closes the channel. For an HTTP/2 stream, it also closes the connection if the client reads nothing on any
    /// stream.
    private func end(_ context: ChannelHandlerContext) {
        if self.transport == .stream, let connection = context.channel.parent, !connection.isWritable {
            connection.close(promise: nil)
        }
        context.close(promise: nil)
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.endWaiting()
    }
}

/// An outbound event whose promise succeeds once the socket has taken all response parts that were written before it,
/// or once the connection is closed.
struct WrittenPartsTaken: Sendable {}

extension Channel {
    /// Waits until the socket has taken all response parts that were written before, or until the channel is closed.
    ///
    /// The writer of a response waits only while the channel is not writable. A task learns of that late, so that it
    /// could write megabytes meanwhile, which the channel would keep. A channel without a ``ResponseDeadlineHandler``
    /// causes no wait.
    /// - Throws: `CancellationError`.
    package func untilWrittenPartsAreTaken() async throws {
        let taken = OneShotValue<Void>()
        let promise = self.eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenComplete { _ in taken.resolve(.success(())) }
        self.triggerUserOutboundEvent(WrittenPartsTaken(), promise: promise)
        try await taken.valueUnlessCancelled()
    }
}
