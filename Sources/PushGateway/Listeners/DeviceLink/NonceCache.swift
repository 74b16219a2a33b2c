import Foundation
import PushTypes
import PushWire

/// Rejects a *Connect* nonce that is old, from the future, or was seen before (device link reference 4).
///
/// Each device has a memory of its own, so that however often one connects, it takes nothing from the others.
struct NonceCache: Sendable {
    /// The largest accepted error of the device's clock, either way.
    static let window: Duration = .seconds(5 * 60)
    /// The maximum number of nonces that are remembered of a device.
    static let maximum = 64

    /// The nonces of one device.
    private struct Memory: Sendable {
        var nonces: [DeviceLinkNonce] = []
        /// The time of the newest nonce that was forgotten for a later one. A replay of what is not newer would not be
        /// noticed.
        var forgotten = Timestamp(milliseconds: .min)

        /// Returns whether the nonce was not seen before, and remembers it.
        mutating func accept(_ nonce: DeviceLinkNonce) -> Bool {
            guard nonce.time > self.forgotten, !self.nonces.contains(nonce) else { return false }
            self.nonces.append(nonce)
            guard self.nonces.count > NonceCache.maximum,
                let oldest = self.nonces.indices.min(by: { self.nonces[$0].time < self.nonces[$1].time })
            else { return true }
            self.forgotten = self.nonces.remove(at: oldest).time
            return true
        }
    }

    private var memories: [UUID: Memory] = [:]
    private var nextSweep = Timestamp(milliseconds: .min)
    /// The number of remembered nonces.
    var count: Int { self.memories.values.reduce(0) { $0 + $1.nonces.count } }

    init() {}

    /// Returns whether the nonce of a device is fresh, and remembers it.
    mutating func accept(_ nonce: DeviceLinkNonce, of device: UUID, now: Timestamp) -> Bool {
        guard now.since(nonce.time) <= Self.window, nonce.time.since(now) <= Self.window else { return false }
        if now >= self.nextSweep { self.sweep(now: now) }
        return self.memories[device, default: Memory()].accept(nonce)
    }

    /// Forgets the devices of which no nonce would be accepted any more. Once in each window.
    private mutating func sweep(now: Timestamp) {
        self.nextSweep = now.advanced(by: Self.window)
        self.memories = self.memories.filter { _, memory in
            memory.nonces.contains { now.since($0.time) <= Self.window }
        }
    }
}
