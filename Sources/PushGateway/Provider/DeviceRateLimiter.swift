import Foundation
import PushProtocol
import Synchronization

/// Counts accepted pushes per device token, for all provider connections of one environment (reference 7.8).
///
/// Counts in windows that begin with a token's first push. Bounded: when too many tokens are counted, ended windows are
/// forgotten, and if that is not enough, all.
final class DeviceRateLimiter: Sendable {
    private struct Key: Hashable {
        var device: UUID
        var topic: TopicHash
    }

    private struct Window {
        var start: Timestamp
        var requests: Int
    }

    private let rate: ProviderRules.Rate
    private let capacity: Int
    private let windows = Mutex<[Key: Window]>([:])

    /// - Parameter capacity: tokens counted at a time.
    init(_ rate: ProviderRules.Rate, capacity: Int = 100_000) {
        self.rate = rate
        self.capacity = capacity
    }

    /// Whether one more push to this app on this device may be accepted; counts it if so.
    func admits(device: UUID, topic: TopicHash, now: Timestamp) -> Bool {
        let key = Key(device: device, topic: topic)
        return self.windows.withLock { windows in
            if var window = windows[key], self.isOpen(window, now) {
                guard window.requests < self.rate.requests else { return false }
                window.requests += 1
                windows[key] = window
                return true
            }
            if windows.count >= self.capacity { windows = windows.filter { self.isOpen($0.value, now) } }
            if windows.count >= self.capacity { windows = [:] }
            windows[key] = Window(start: now, requests: 1)
            return self.rate.requests > 0
        }
    }

    private func isOpen(_ window: Window, _ now: Timestamp) -> Bool {
        now.since(window.start) < self.rate.window
    }
}
