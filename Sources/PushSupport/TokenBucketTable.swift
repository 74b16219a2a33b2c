import Synchronization

/// A ``TokenBucket`` for each key. Full buckets are removed when there are many.
package final class TokenBucketTable<Key: Hashable & Sendable>: Sendable {
    package typealias Bucket = TokenBucket<ContinuousClock.Instant>

    private let rate: Double
    private let burst: Double
    /// The fewest buckets from which full ones are removed.
    private static var minimumSearched: Int { 1000 }

    private struct State {
        var buckets: [Key: Bucket] = [:]
        /// The number of buckets from which full ones are removed: twice as many as were left the last time, so that a
        /// new key costs little on average.
        var searched = TokenBucketTable.minimumSearched
    }

    private let state = Mutex(State())

    /// Creates a limiter without buckets.
    ///
    /// - Parameters:
    ///   - rate: The tokens per second of each key.
    ///   - burst: The tokens of a full bucket.
    package init(rate: Double, burst: Double) {
        (self.rate, self.burst) = (rate, burst)
    }

    /// The number of buckets.
    package var count: Int { self.state.withLock { $0.buckets.count } }

    /// Takes a token of the key.
    ///
    /// - Parameter rate: The tokens per second of a new bucket, twice as many at once; `nil` for those of the table.
    /// - Returns: The delay until there is one; `nil` if it was taken.
    package func take(_ key: Key, rate: Double? = nil, now: ContinuousClock.Instant) -> Duration? {
        self.with(key, rate: rate, now: now) { $0.take(now: now) }
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
        self.state.withLock { state in
            if state.buckets.count >= state.searched, state.buckets[key] == nil {
                state.buckets = state.buckets.filter { _, bucket in
                    var bucket = bucket
                    return !bucket.isFull(now: now)
                }
                state.searched = max(Self.minimumSearched, 2 * state.buckets.count)
            }
            let new = Bucket(rate: rate ?? self.rate, burst: rate.map { 2 * $0 } ?? self.burst, now: now)
            return body(&state.buckets[key, default: new])
        }
    }
}
