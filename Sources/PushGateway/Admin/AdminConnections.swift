import HummingbirdCore
import Synchronization

/// Counts the connections of the admin door; beyond the limit, more wait until one ends.
final class AdminConnections: AvailableConnectionsDelegate {
    static let maximum = 256

    private let open = Atomic<Int>(0)

    var count: Int { self.open.load(ordering: .relaxed) }

    func connectionOpened() { self.open.add(1, ordering: .relaxed) }
    func connectionClosed() { self.open.subtract(1, ordering: .relaxed) }
    func isAcceptingNewConnections() -> Bool { self.count < Self.maximum }
}
