import NIOCore
import PushHTTP
import PushSupport
import PushTypes
import Synchronization

/// The connections of homeservers that are kept open although no API key authenticates them.
///
/// Requests of homeservers have no credentials, so their connections are closed after a minute like others without a
/// key (docs/decisions/0015). A connection is kept open if it has named a pushkey to which a push was accepted before,
/// because only the user and the user's homeserver know a device token. The user knows the token too, so one token
/// keeps few connections open.
final class MatrixConnections: Sendable {
    /// The maximum number of connections that one token keeps open. Further connections need different tokens, of which
    /// a homeserver names many.
    static let perToken = 8

    private typealias Token = TokenOfApp

    private struct State {
        var kept: [ObjectIdentifier: Token] = [:]
        var counts: [Token: Int] = [:]

        /// Records a connection for a token. Returns `false` if it is recorded already or the token keeps too many
        /// others open.
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

    init(_ connections: ConnectionLimiter) { self.connections = connections }

    /// Returns whether a connection is already kept open.
    func isKept(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel.connection)
        return self.state.withLock { $0.kept[id] != nil }
    }

    /// Keeps a connection open until its client closes it, if its token keeps fewer than ``perToken`` open and the
    /// budget of its account allows another. Otherwise the connection is closed after a minute.
    /// - Parameter account: The account to which the connection is charged: the homeserver's network at the app.
    func keep(_ channel: any Channel, for token: DeviceToken, of app: Int64, _ account: BudgetCaller) {
        let connection = channel.connection
        let id = ObjectIdentifier(connection)
        guard self.state.withLock({ $0.keep(id, for: Token(app: app, token: token)) }) else { return }
        do {
            try self.connections.assign(channel, to: account)
        } catch {
            return self.state.withLock { $0.remove(id) }
        }
        // Object identifiers are reused once a connection is deallocated.
        connection.closeFuture.whenComplete { _ in self.state.withLock { $0.remove(id) } }
    }
}

extension Channel {
    /// The channel of the whole connection: the parent of an HTTP/2 stream, or this channel itself. It is never the
    /// listener, the parent of a connection, which has no remote address.
    fileprivate var connection: any Channel { self.parent.flatMap { $0.remoteAddress == nil ? nil : $0 } ?? self }
}
