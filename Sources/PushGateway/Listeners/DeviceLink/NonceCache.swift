import Foundation
import PushTypes
import PushWire

/// Rejects a *Connect* nonce that is too old, has a time in the future, or was used before (device link reference 4).
///
/// The nonces of each device are stored separately. A device that connects often therefore does not displace the nonces
/// of others.
struct NonceCache: Sendable {
    /// The maximum difference between a device's clock and the gateway's. A nonce beyond it is rejected.
    static let window: Duration = .seconds(5 * 60)
    /// The maximum number of nonces that are remembered for each device. Beyond it, the oldest is forgotten.
    static let maximum = 64

    private struct Memory: Sendable {
        var nonces: [DeviceLinkNonce] = []
        /// The time of the newest nonce that was forgotten to make room. Nonces that are not newer are rejected,
        /// because their replay could not be detected.
        var forgotten = Timestamp(milliseconds: .min)

        /// Returns whether the nonce was not used before. If so, it is remembered.
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
    var count: Int { self.memories.values.reduce(0) { $0 + $1.nonces.count } }

    init() {}

    /// Returns whether the nonce of a device is recent and was not used before. If so, it is remembered.
    mutating func accept(_ nonce: DeviceLinkNonce, of device: UUID, now: Timestamp) -> Bool {
        guard now.since(nonce.time) <= Self.window, nonce.time.since(now) <= Self.window else { return false }
        if now >= self.nextSweep { self.sweep(now: now) }
        return self.memories[device, default: Memory()].accept(nonce)
    }

    /// Removes the devices whose remembered nonces are all too old to be accepted. This method runs once in each
    /// ``window``.
    private mutating func sweep(now: Timestamp) {
        self.nextSweep = now.advanced(by: Self.window)
        self.memories = self.memories.filter { _, memory in
            memory.nonces.contains { now.since($0.time) <= Self.window }
        }
    }
}
