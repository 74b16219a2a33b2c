package import Logging
package import NIOCore
package import PushSupport
import PushTypes
import Synchronization

/// Limits the rates at which networks open connections.
///
/// A connection above a rate is closed as soon as it is accepted, before it costs a handshake or displaces another
/// connection. Networks that have recently shown a key have separate rates, so that other networks cannot lock them
/// out.
package final class ConnectionRates: Sendable {
    /// The maximum number of connections that a listener accepts in one event loop tick.
    ///
    /// The default of swift-nio is 4. With it, long ticks would let the operating system's backlog overflow, and
    /// clients would retry only after a second.
    private static let acceptedAtOnce: UInt = 64

    private let known: Budget
    private let strangers: Budget
    private let logger: Logger
    private let clock: @Sendable () -> NIODeadline
    private let networks = Mutex(KnownNetworks())

    /// Creates the limits.
    /// - Parameter budgets: The budgets. `BudgetedResource.newConnections` applies to networks that have recently shown
    ///   a key, `BudgetedResource.strangerConnections` to all others.
    package init(_ budgets: BudgetRegistry, logger: Logger, clock: @escaping @Sendable () -> NIODeadline = { .now() }) {
        (self.known, self.strangers) = (budgets[.newConnections], budgets[.strangerConnections])
        (self.logger, self.clock) = (logger.rateLimited(), clock)
    }

    /// Applies the rates to the connections that a listener accepts from now on.
    package func limit(_ listener: any Channel) async throws {
        try await listener.setOption(.maxMessagesPerRead, value: Self.acceptedAtOnce).get()
        try await listener.eventLoop.submit {
            try listener.pipeline.syncOperations.addHandler(ConnectionRateHandler(self), position: .first)
        }
        .get()
    }

    /// Records that the client of a connection has shown a key, a session or a certificate. Its network stays known
    /// until ``KnownNetworks/lifetime`` after the connection is closed.
    package func note(_ account: BudgetCaller, on connection: any Channel) {
        guard let network = BudgetCaller(from: connection)?.identity else { return }
        self.note(network, account.app)
        connection.closeFuture.whenComplete { _ in self.note(network, account.app) }
    }

    private func note(_ network: BudgetCaller.Identity, _ app: Topic?) {
        let now = self.clock()
        self.networks.withLock { $0.note(network, app: app, now: now) }
    }

    /// Returns whether a client in the address's network has shown a key within ``KnownNetworks/lifetime``.
    func knows(_ address: SocketAddress?) -> Bool {
        guard let network = address?.network else { return false }
        let now = self.clock()
        return self.networks.withLock { $0.account(of: .network(network), now: now) != nil }
    }

    /// Charges a new connection to the rate of the network of `address`.
    /// - Returns: `false` if the connection exceeds a rate and must be closed.
    func admits(_ address: SocketAddress?) -> Bool {
        // Without an address, the client has already reset the connection.
        guard let address else { return false }
        guard !address.isOfLocalProxy else { return true }
        let client = BudgetCaller(.network(address.network))
        let now = self.clock()
        let account = self.networks.withLock { $0.account(of: client.identity, now: now) }
        do throws(BudgetRefusal) {
            if let account {
                try self.known.spend(for: account)
            } else {
                try self.strangers.spend(for: client.site)
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

private final class ConnectionRateHandler: ChannelInboundHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel

    private let rates: ConnectionRates

    init(_ rates: ConnectionRates) { self.rates = rates }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let accepted = Self.unwrapInboundIn(data)
        guard self.rates.admits(accepted.remoteAddress) else { return accepted.close(promise: nil) }
        context.fireChannelRead(data)
    }
}
