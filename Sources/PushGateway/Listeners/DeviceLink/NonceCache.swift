import PushTypes
import PushWire

/// Rejects a *Connect* nonce that is old, from the future, or was seen before (device link reference 4).
struct NonceCache: Sendable {
    /// The largest accepted error of the device's clock, either way.
    static let window: Duration = .seconds(5 * 60)
    /// The number of remembered nonces. Beyond it, *Connect* is rejected, because a replay would not be noticed.
    static let capacity = 100_000

    private var seen: [DeviceLinkNonce: Timestamp] = [:]
    private var nextSweep = Timestamp(milliseconds: .min)

    init() {}

    /// The number of remembered nonces.
    var count: Int { self.seen.count }

    /// Returns whether the nonce is fresh, and remembers it.
    mutating func accept(_ nonce: DeviceLinkNonce, now: Timestamp) -> Bool {
        guard now.since(nonce.time) <= Self.window, nonce.time.since(now) <= Self.window else { return false }
        if now >= self.nextSweep || self.seen.count >= Self.capacity {
            self.seen = self.seen.filter { now.since($0.key.time) <= Self.window }
            self.nextSweep = now.advanced(by: Self.window)
        }
        guard self.seen.count < Self.capacity else { return false }
        return self.seen.updateValue(now, forKey: nonce) == nil
    }
}
