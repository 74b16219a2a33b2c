import Foundation
import PushSupport
import PushTypes
import PushWire
import Synchronization

/// Limits the accepted pushes to each device token, over all provider connections of one environment (reference 7.8).
///
/// Each token has a bucket that is full at its first push and refills with time, so that a burst is accepted and a
/// sustained stream is not. If there are too many buckets, the full ones are removed. If that does not suffice, all
/// are.
final class DeviceRateLimiter: Sendable {
    private struct Key: Hashable {
        var device: UUID
        var topic: TopicHash
    }

    private typealias Bucket = TokenBucket<Timestamp>

    private let rate: ProviderRules.Rate
    private let perSecond: Double
    private let capacity: Int
    private let buckets = Mutex<[Key: Bucket]>([:])

    /// Creates a limiter.
    /// - Parameter capacity: The maximum number of buckets at a time.
    init(_ rate: ProviderRules.Rate, capacity: Int = 100_000) {
        self.rate = rate
        self.perSecond = Double(rate.requests) / max(0.001, rate.window / .seconds(1))
        self.capacity = capacity
    }

    var rule: String {
        "\(self.rate.burst) pushes to a device and topic at once, then \(self.rate.requests) in \(self.rate.window) "
            + "(gateway.rules.pushBurstPerDevice, gateway.rules.pushesPerDeviceAndMinute)"
    }

    /// Counts another push to an app on a device if the limit allows it.
    /// - Returns: Whether the limit allows the push.
    func admits(device: UUID, topic: TopicHash, now: Timestamp) -> Bool {
        let key = Key(device: device, topic: topic)
        return self.buckets.withLock { buckets in
            if buckets[key] == nil, buckets.count >= self.capacity {
                for other in buckets.keys where buckets[other]?.isFull(now: now) ?? true { buckets[other] = nil }
                if buckets.count >= self.capacity { buckets = [:] }
            }
            let full = Bucket(rate: self.perSecond, burst: Double(self.rate.burst), now: now)
            return buckets[key, default: full].take(now: now) == nil
        }
    }
}
