package import Logging
package import NIOCore
package import PushSupport
import Synchronization

/// The rates at which networks open connections.
///
/// A connection that exceeds them is closed as soon as it is accepted, before it costs a handshake, a handler or a place of another one.
/// Networks that have shown a key lately have rates of their own, so that no number of others can keep them out.
package final class NewConnections: Sendable {
    /// The maximum number of connections that a listener accepts before its event loop has other turns.
    ///
    /// swift-nio's own is 4. Where each turn is long, the queue of the system overflows then, and a client's next attempt comes a second
    /// later.
    private static let acceptedAtOnce: UInt = 64

    private let known: Budget
    private let strangers: Budget
    private let logger: Logger
    private let clock: @Sendable () -> NIODeadline
    private let networks = Mutex(KnownNetworks())

    /// - Parameter budgets: Those of `Resource.newConnections` and `Resource.strangerConnections`.
    package init(_ budgets: Budgets, logger: Logger, clock: @escaping @Sendable () -> NIODeadline = { .now() }) {
        (self.known, self.strangers) = (budgets[.newConnections], budgets[.strangerConnections])
        (self.logger, self.clock) = (logger.ofStrangers(), clock)
    }

    /// Bounds the connections that a listener accepts from now on.
    package func bound(_ listener: any Channel) async throws {
        try await listener.setOption(.maxMessagesPerRead, value: Self.acceptedAtOnce).get()
        try await listener.eventLoop.submit {
            try listener.pipeline.syncOperations.addHandler(NewConnectionsHandler(self), position: .first)
        }
        .get()
    }

    /// Notes that the client of a connection has shown a key, a session or a certificate.
    /// - Parameter channel: The connection, or a stream of HTTP/2.
    package func note(_ account: BudgetCaller, on channel: any Channel) {
        guard let network = BudgetCaller(from: channel)?.site.identity else { return }
        let now = self.clock()
        self.networks.withLock { $0.note(network, app: account.app, now: now) }
    }

    /// Counts a connection that was just accepted.
    /// - Returns: `false` if it exceeds a rate.
    func admits(_ address: SocketAddress?) -> Bool {
        // At a proxy on the same machine all clients have its address.
        guard let address, !address.isLoopback else { return true }
        let stranger = BudgetCaller(.network(address.network)).site
        let now = self.clock()
        let account = self.networks.withLock { $0.account(of: stranger.identity, now: now) }
        do throws(BudgetRefusal) {
            if let account {
                try self.known.spend(for: account)
            } else {
                try self.strangers.spend(for: stranger)
            }
            return true
        } catch {
            self.logger.warning(
                "connection rejected, too many are opened",
                metadata: ["address": "\(address.ipAddress ?? "")", "reason": "\(error.level.rawValue)"]
            )
            return false
        }
    }
}

/// Closes what a listener accepts beyond the rates.
private final class NewConnectionsHandler: ChannelInboundHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel

    private let connections: NewConnections

    init(_ connections: NewConnections) { self.connections = connections }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let accepted = Self.unwrapInboundIn(data)
        guard self.connections.admits(accepted.remoteAddress) else { return accepted.close(promise: nil) }
        context.fireChannelRead(data)
    }
}
