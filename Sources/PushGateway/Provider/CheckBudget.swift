import Foundation
import NIOCore
import PushProtocol
import Synchronization

/// Fills up with time and is emptied by refusals.
struct RefusalBucket: Sendable {
    struct Size: Hashable, Sendable {
        /// Refusals in a row.
        var capacity: Double
        /// Refusals a second in the long run.
        var perSecond: Double
    }

    private var left: Double
    private var filled: Timestamp

    init(_ size: Size, now: Timestamp) {
        self.left = size.capacity
        self.filled = now
    }

    /// Counts a refusal. A clock that was set back costs nothing and brings nothing.
    /// - Returns: `false` if it was one too many.
    mutating func take(_ size: Size, now: Timestamp) -> Bool {
        self.fill(size, now: now)
        guard self.left >= 1 else { return false }
        self.left -= 1
        return true
    }

    mutating func isFull(_ size: Size, now: Timestamp) -> Bool {
        self.fill(size, now: now)
        return self.left >= size.capacity
    }

    private mutating func fill(_ size: Size, now: Timestamp) {
        let seconds = Double(max(0, now.milliseconds - self.filled.milliseconds)) / 1000
        self.left = min(size.capacity, self.left + seconds * size.perSecond)
        self.filled = now
    }
}

/// Bounds how many provider tokens that are no good are checked for their signature, per source over all connections.
///
/// A check costs the event loop 0.1 ms, and a source can open many connections. Nothing is refused unchecked: a connection
/// that has had a bad token checked too many ends (``ProviderConnection/mustEnd``), and its successor has one check again.
final class CheckBudget: Sendable {
    /// Of one connection.
    static let connection = RefusalBucket.Size(capacity: 100, perSecond: 1)
    /// Of one source.
    static let source = RefusalBucket.Size(capacity: 1000, perSecond: 20)
    /// Sources at one time.
    private static let maximumSources = 4096

    /// An IPv4 address, or the first half of an IPv6 one; empty where there is none.
    struct Source: Hashable, Sendable {
        private let bytes: [UInt8]

        init(_ address: SocketAddress?) {
            switch address {
            case .v4(let address): self.bytes = withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
            case .v6(let address): self.bytes = withUnsafeBytes(of: address.address.sin6_addr) { Array($0.prefix(8)) }
            default: self.bytes = []
            }
        }
    }

    private let sources = Mutex<[Source: RefusalBucket]>([:])

    /// Counts a token that was checked and is no good.
    /// - Returns: `false` if its source has had too many.
    func take(_ source: Source, now: Timestamp) -> Bool {
        self.sources.withLock { sources in
            if sources[source] == nil, sources.count >= Self.maximumSources {
                sources = sources.filter { _, bucket in
                    var bucket = bucket
                    return !bucket.isFull(Self.source, now: now)
                }
                // More hostile sources than can be told apart: the others share what is left to all.
                if sources.count >= Self.maximumSources { return false }
            }
            return sources[source, default: RefusalBucket(Self.source, now: now)].take(Self.source, now: now)
        }
    }
}
