import Synchronization

/// A ``TokenBucket`` for each key. Full buckets are removed when there are many.
package final class TokenBucketTable<Key: Hashable & Sendable>: Sendable {
    package typealias Bucket = TokenBucket<ContinuousClock.Instant>

    private let rate: Double
    private let burst: Double
    /// The number of buckets from which full ones are removed.
    private let kept = 1000
    private let buckets = Mutex<[Key: Bucket]>([:])

    /// Creates a limiter without buckets.
    ///
    /// - Parameters:
    ///   - rate: The tokens per second of each key.
    ///   - burst: The tokens of a full bucket.
    package init(rate: Double, burst: Double) {
        (self.rate, self.burst) = (rate, burst)
    }

    /// Calls `body` with the key's bucket, under the lock.
    ///
    /// - Parameter rate: The tokens per second of a new bucket, twice as many at once; `nil` for those of the table.
    package func with<Value: Sendable>(
        _ key: Key,
        rate: Double? = nil,
        now: ContinuousClock.Instant,
        _ body: (inout Bucket) -> Value
    ) -> Value {
        self.buckets.withLock { buckets in
            if buckets.count >= self.kept, buckets[key] == nil {
                for other in buckets.keys where buckets[other]?.isFull(now: now) ?? true { buckets[other] = nil }
            }
            let new = Bucket(rate: rate ?? self.rate, burst: rate.map { 2 * $0 } ?? self.burst, now: now)
            return body(&buckets[key, default: new])
        }
    }
}
