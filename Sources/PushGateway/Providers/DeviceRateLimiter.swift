import Foundation
import PushSupport
import PushTypes
import PushWire
import Synchronization

/// Bounds accepted pushes per device token, for all provider connections of one environment (reference 7.8).
///
/// Each token has a bucket that is full at its first push and fills again with time, so that a burst passes and a stream
/// does not. Bounded: when there are too many buckets, the full ones are forgotten, and if that is not enough, all.
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

    /// - Parameter capacity: tokens with a bucket at a time.
    init(_ rate: ProviderRules.Rate, capacity: Int = 100_000) {
        self.rate = rate
        self.perSecond = Double(rate.requests) / max(0.001, rate.window / .seconds(1))
        self.capacity = capacity
    }

    /// The name of the bound, for a log.
    var rule: String {
        "\(self.rate.burst) pushes to a device and topic at once, then \(self.rate.requests) in \(self.rate.window) "
            + "(gateway.rules.pushBurstPerDevice, gateway.rules.pushesPerDeviceAndMinute)"
    }

    /// Counts one more push to this app on this device, if it may be accepted.
    /// - Returns: whether it may.
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
