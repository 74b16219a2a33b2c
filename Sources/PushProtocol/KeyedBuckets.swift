import Synchronization

/// A ``TokenBucket`` for each of many keys; those that are full are forgotten when there are many.
package final class KeyedBuckets<Key: Hashable & Sendable>: Sendable {
    private let rate: Double
    private let burst: Double
    private let kept = 1000
    private let buckets = Mutex<[Key: Bucket]>([:])

    package typealias Bucket = TokenBucket<ContinuousClock.Instant>

    /// - Parameters: as of a ``TokenBucket``.
    package init(rate: Double, burst: Double) {
        self.rate = rate
        self.burst = burst
    }

    package func with<Value: Sendable>(
        _ key: Key,
        now: ContinuousClock.Instant,
        _ body: (inout Bucket) -> Value
    ) -> Value {
        self.buckets.withLock { buckets in
            if buckets.count >= self.kept, buckets[key] == nil {
                for other in buckets.keys where buckets[other]?.isFull(now: now) ?? true { buckets[other] = nil }
            }
            return body(&buckets[key, default: Bucket(rate: self.rate, burst: self.burst, now: now)])
        }
    }
}
