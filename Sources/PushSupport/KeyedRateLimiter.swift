import Synchronization

/// A ``TokenBucket`` for each of many keys; those that are full are forgotten when there are many.
package final class KeyedRateLimiter<Key: Hashable & Sendable>: Sendable {
    package typealias Bucket = TokenBucket<ContinuousClock.Instant>

    private let rate: Double
    private let burst: Double
    /// The number of buckets from which full ones are forgotten.
    private let kept = 1000
    private let buckets = Mutex<[Key: Bucket]>([:])

    /// Makes buckets of which each has this rate per second, and this much at once after a rest.
    package init(rate: Double, burst: Double) {
        self.rate = rate
        self.burst = burst
    }

    /// Gives a key's bucket to `body`, under the lock.
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
