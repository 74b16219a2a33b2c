import Foundation
import PushProtocol
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

    private struct Bucket {
        /// Pushes that may be accepted, with what has come back of the next.
        var level: Double
        var time: Timestamp
    }

    private let rate: ProviderRules.Rate
    private let perMillisecond: Double
    private let capacity: Int
    private let buckets = Mutex<[Key: Bucket]>([:])

    /// - Parameter capacity: tokens with a bucket at a time.
    init(_ rate: ProviderRules.Rate, capacity: Int = 100_000) {
        self.rate = rate
        self.perMillisecond = Double(rate.requests) / max(1, rate.window / .milliseconds(1))
        self.capacity = capacity
    }

    /// The name of the bound, for a log.
    var rule: String {
        "\(self.rate.burst) pushes to a device and topic at once, then \(self.rate.requests) in \(self.rate.window) "
            + "(gateway.rules.pushBurstPerDevice, gateway.rules.pushesPerDeviceAndMinute)"
    }

    /// Whether one more push to this app on this device may be accepted; counts it if so.
    func admits(device: UUID, topic: TopicHash, now: Timestamp) -> Bool {
        let key = Key(device: device, topic: topic)
        return self.buckets.withLock { buckets in
            var level = Double(self.rate.burst)
            if let bucket = buckets[key] {
                level = self.level(of: bucket, now)
            } else {
                if buckets.count >= self.capacity { buckets = buckets.filter { !self.isFull($0.value, now) } }
                if buckets.count >= self.capacity { buckets = [:] }
            }
            let isAdmitted = level >= 1
            buckets[key] = Bucket(level: isAdmitted ? level - 1 : level, time: now)
            return isAdmitted
        }
    }

    private func level(of bucket: Bucket, _ now: Timestamp) -> Double {
        // A clock that was set back gives nothing, and takes nothing.
        let elapsed = max(0, now.since(bucket.time) / .milliseconds(1))
        return min(Double(self.rate.burst), bucket.level + elapsed * self.perMillisecond)
    }

    private func isFull(_ bucket: Bucket, _ now: Timestamp) -> Bool {
        self.level(of: bucket, now) >= Double(self.rate.burst)
    }
}
