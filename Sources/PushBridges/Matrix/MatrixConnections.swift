import NIOCore
import PushHTTP
import PushSupport
import PushTypes
import Synchronization

/// The connections of homeservers that are kept although no key authenticates them.
///
/// Requests of homeservers have no credentials, so their connections end after a minute like others without a key
/// (docs/decisions/0015). A connection is kept if it has named a pushkey to which a push was accepted before, because
/// only the user and the user's homeserver know a device token. Because the user knows it too, one token keeps few
/// connections.
final class MatrixConnections: Sendable {
    /// The maximum number of connections that one token keeps. A homeserver names many tokens on each connection.
    static let perToken = 8

    private typealias Token = TokenOfApp

    private struct State {
        var kept: [ObjectIdentifier: Token] = [:]
        var counts: [Token: Int] = [:]

        /// Returns `true` for a connection that is kept from now on.
        mutating func keep(_ id: ObjectIdentifier, for token: Token) -> Bool {
            let count = self.counts[token] ?? 0
            guard self.kept[id] == nil, count < MatrixConnections.perToken else { return false }
            (self.kept[id], self.counts[token]) = (token, count + 1)
            return true
        }

        mutating func remove(_ id: ObjectIdentifier) {
            guard let token = self.kept.removeValue(forKey: id) else { return }
            let left = (self.counts[token] ?? 0) - 1
            self.counts[token] = left > 0 ? left : nil
        }
    }

    private let connections: ConnectionLimiter
    private let state = Mutex(State())

    /// - Parameter connections: The connections of the listener.
    init(_ connections: ConnectionLimiter) { self.connections = connections }

    /// Returns `true` if a connection has been kept.
    func isKept(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel.connection)
        return self.state.withLock { $0.kept[id] != nil }
    }

    /// Keeps a connection until its client closes it, if its token keeps few others and its account has room.
    /// - Parameter account: The account of the homeserver at the app.
    func keep(_ channel: any Channel, for token: DeviceToken, of app: Int64, _ account: BudgetCaller) {
        let connection = channel.connection
        let id = ObjectIdentifier(connection)
        guard self.state.withLock({ $0.keep(id, for: Token(app: app, token: token)) }) else { return }
        do {
            try self.connections.assign(channel, to: account)
        } catch {
            return self.state.withLock { $0.remove(id) }
        }
        // Identifiers are reused once a connection is gone.
        connection.closeFuture.whenComplete { _ in self.state.withLock { $0.remove(id) } }
    }
}

extension Channel {
    /// The connection of an HTTP/2 stream, or the connection itself. The parent of a connection is its listener, which
    /// has no remote address.
    fileprivate var connection: any Channel { self.parent.flatMap { $0.remoteAddress == nil ? nil : $0 } ?? self }
}
