import NIOCore
import PushHTTP
import Synchronization

/// The connections of homeservers that have shown to be worth keeping.
///
/// Requests bring no credentials, so a connection ends after a minute like any other without a key (docs/decisions/0015), unless it
/// has named a pushkey to which a push was accepted before: a device token is what only the user's homeserver knows.
final class MatrixConnections: Sendable {
    private let known = Mutex<Set<ObjectIdentifier>>([])

    /// Returns `true` if a connection has been kept.
    func isKept(_ channel: any Channel) -> Bool {
        let id = Self.id(channel)
        return self.known.withLock { $0.contains(id) }
    }

    /// Keeps a connection for as long as its client wants.
    func keep(_ channel: any Channel) {
        let (connection, id) = (Self.connection(channel), Self.id(channel))
        guard self.known.withLock({ $0.insert(id).inserted }) else { return }
        UnauthenticatedConnections.markAuthenticated(channel)
        // An identifier is used again once the connection is gone.
        connection.closeFuture.whenComplete { _ in self.known.withLock { _ = $0.remove(id) } }
    }

    private static func id(_ channel: any Channel) -> ObjectIdentifier { ObjectIdentifier(Self.connection(channel)) }

    /// Returns the connection of a stream of HTTP/2, or the connection itself. The parent of a connection is its listener.
    private static func connection(_ channel: any Channel) -> any Channel {
        channel.remoteAddress == nil ? channel.parent ?? channel : channel
    }
}
