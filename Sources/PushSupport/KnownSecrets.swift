import Synchronization

/// The hashes of secrets that were right before. A client with one of them is no guesser, however many wrong ones its address has sent.
package final class KnownSecrets: Sendable {
    /// The most hashes; all are forgotten when there is one more.
    package let maximum: Int
    private let hashes = Mutex<Set<[UInt8]>>([])

    package init(maximum: Int = 65_536) { self.maximum = maximum }

    package func contains(_ hash: [UInt8]) -> Bool { self.hashes.withLock { $0.contains(hash) } }

    package func insert(_ hash: [UInt8]) {
        self.hashes.withLock { hashes in
            if hashes.count >= self.maximum { hashes = [] }
            hashes.insert(hash)
        }
    }

    package func remove(_ hash: [UInt8]) { self.hashes.withLock { _ = $0.remove(hash) } }
}
