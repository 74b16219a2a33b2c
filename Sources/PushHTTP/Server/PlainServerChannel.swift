import HummingbirdCore
import Logging
import NIOCore

/// The connections of a listener without TLS, which speak HTTP/1.1.
struct PlainServerChannel: ServerChildChannel {
    let http1: HTTP1Channel
    /// The accounts of the connections; `nil` if they have none.
    var held: ConnectionLimiter?

    /// Prepares a connection.
    ///
    /// The value lives as long as the connection: a listener that ends drops those that it has accepted a moment ago, and
    /// `NIOAsyncChannel` ends the process when it is dropped before its connection is closed.
    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        do {
            try self.held?.admit(channel)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return self.http1.setup(channel: channel, logger: logger).flatMapThrowing { value in
            try HostFieldHandler.add(to: channel)
            channel.closeFuture.whenComplete { _ in withExtendedLifetime(value) {} }
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await self.http1.handle(value: value, logger: logger)
    }
}
