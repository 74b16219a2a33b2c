import PushTypes
import PushWire

/// Refuses a *Connect* nonce that is old, from the future, or was seen before (courier reference, "Signature").
struct NonceCache: Sendable {
    /// How far the device's clock may be off, either way.
    static let window: Duration = .seconds(5 * 60)
    /// Nonces remembered; beyond that, connecting is refused rather than replay allowed.
    static let capacity = 100_000

    private var seen: [DeviceLinkNonce: Timestamp] = [:]
    private var nextSweep = Timestamp(milliseconds: .min)

    init() {}

    var count: Int { self.seen.count }

    /// Whether the nonce is fresh; it is not from then on.
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
