package import NIOCore
package import NIOHTTPTypes

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Closes a connection whose client does not take an answer in time. How requests come in is for ``RequestBodyHandler``.
///
/// An answer has the time for each ``piece`` of it, and who was faster may rest for longer, up to ``longestRest`` of them:
/// some clients keep to a rate by taking megabytes at once and then nothing for a minute. A client that stops reading is
/// cut off. So that it is seen early, the system keeps little that it has not sent.
package final class RequestDeadlineHandler: ChannelOutboundHandler, RemovableChannelHandler {
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    /// In bytes; a longer part of an answer is written in several.
    static let piece = 64 * 1024

    /// In deadlines.
    static let longestRest: Int64 = 10
    /// In bytes, that the system takes before they can leave. Without a bound it takes up to 4 MB and then nothing until a
    /// good part of them has left, which takes a slow client minutes. What is on its way does not count.
    static let unsent = 128 * 1024
    static let unsentOption = NIOBSDSocket.Option(rawValue: TCP_NOTSENT_LOWAT)

    private let deadline: TimeAmount
    /// Pieces that the client has not taken.
    private var unwritten = 0
    private var writeTimer: Scheduled<Void>?
    /// When the client must have taken the next piece. Time that it has gained in an answer counts in the next one too.
    private var writeDeadline = NIODeadline.uptimeNanoseconds(0)

    /// - Parameter deadline: for each piece of an answer.
    package init(deadline: TimeAmount) {
        self.deadline = deadline
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        // What is no TCP connection has no such option.
        try? context.channel.syncOptions?.setOption(.tcpOption(Self.unsentOption), value: Self.unsent)
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .body(var rest) = Self.unwrapOutboundIn(data) else {
            return self.write(data, promise, context)
        }
        while rest.readableBytes > Self.piece, let piece = rest.readSlice(length: Self.piece) {
            self.write(Self.wrapOutboundOut(.body(piece)), nil, context, bytes: Self.piece)
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
        self.unwritten += 1
        if self.unwritten == 1 {
            self.writeDeadline = max(self.writeDeadline, context.eventLoop.now + self.deadline)
            self.watchWriting(context)
        }
        promise.futureResult.assumeIsolated().whenComplete { _ in
            self.unwritten -= 1
            self.hasTaken(bytes, at: context.eventLoop.now)
            if self.unwritten == 0 { self.writeTimer?.cancel() }
        }
        context.write(data, promise: promise)
    }

    private func hasTaken(_ bytes: Int, at now: NIODeadline) {
        let gained = TimeAmount.nanoseconds(self.deadline.nanoseconds / Int64(Self.piece) * Int64(bytes))
        let rested = min(self.writeDeadline + gained, now + self.deadline * Self.longestRest)
        self.writeDeadline = max(now + self.deadline, rested)
    }

    private func watchWriting(_ context: ChannelHandlerContext) {
        self.writeTimer?.cancel()
        self.writeTimer = context.eventLoop.assumeIsolated().scheduleTask(deadline: self.writeDeadline) {
            // It may have gained time since.
            if context.eventLoop.now < self.writeDeadline {
                self.watchWriting(context)
            } else {
                context.close(promise: nil)
            }
        }
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.writeTimer?.cancel()
    }
}
