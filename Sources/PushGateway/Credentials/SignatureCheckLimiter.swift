import Foundation
import NIOCore
import PushSupport
import PushTypes
import Synchronization

/// Limits the signature checks that find a provider token invalid, for each source over all of its connections.
///
/// A signature check occupies the event loop for 0.1 ms, and a source can open many connections. No token is rejected
/// without a check: a connection beyond the limit is closed (``ConnectionAuthentication/mustEnd``), and the source's
/// next connection has one token checked again.
final class SignatureCheckLimiter: Sendable {
    typealias Bucket = TokenBucket<Timestamp>

    /// Returns the bucket of a new connection, which allows 100 invalid tokens in a row, then one a second.
    static func ofConnection(now: Timestamp) -> Bucket { Bucket(rate: 1, burst: 100, now: now) }

    /// Returns the bucket of a new source, which allows 1,000 invalid tokens in a row, then 20 a second.
    private static func ofSource(now: Timestamp) -> Bucket { Bucket(rate: 20, burst: 1000, now: now) }

    /// The maximum number of sources with a bucket. If all are in use, other sources are treated as over the limit.
    private static let maximumSources = 4096

    /// The source of a connection: an IPv4 address or the first half of an IPv6 address. It is empty for other
    /// addresses.
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

    private let sources = Mutex<[Source: Bucket]>([:])

    /// Counts a token that was checked and found invalid.
    /// - Returns: `false` if the source has exceeded its limit, so that its connection is to be closed.
    func take(_ source: Source, now: Timestamp) -> Bool {
        self.sources.withLock { sources in
            if sources[source] == nil, sources.count >= Self.maximumSources {
                sources = sources.filter { _, bucket in
                    var bucket = bucket
                    return !bucket.isFull(now: now)
                }
                // With more hostile sources than buckets, the sources without a bucket are always over the limit.
                if sources.count >= Self.maximumSources { return false }
            }
            return sources[source, default: Self.ofSource(now: now)].take(now: now) == nil
        }
    }
}
