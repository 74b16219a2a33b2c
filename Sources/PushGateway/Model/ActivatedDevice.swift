import Foundation
import PushTypes
import PushWire

struct ActivatedDevice: Sendable {
    var id: UUID
    var name: String?
    var activatedAt: Timestamp
    var deletedAt: Timestamp?
    /// The time at which the device last connected or disconnected, or `nil` if it never did.
    var lastSeenAt: Timestamp?
    /// The serial number of the device's only valid certificate, in lower-case hexadecimal, or `nil` if any certificate
    /// of the device may be used.
    var certificateSerial: String?
    /// The time at which the device's certificate was revoked, or `nil` if it is valid.
    var revokedAt: Timestamp?
    /// The number of reinstallations of the device's system. Each invalidates the device's base token
    /// (``TokenMinter``).
    var epoch: UInt32 = 0
    var installs: [Install] = []

    /// One app on a device in one environment, with the current and the earlier tokens that it had there.
    struct Install: Sendable {
        /// The maximum number of earlier tokens whose end times are kept. Older tokens end at the oldest kept time.
        static let remembered = 32

        var environment: PushEnvironment
        var topic: Topic
        var hash: TopicHash
        /// The generation of the current token. A token of an earlier generation is invalid.
        var generation: UInt32
        var keyID: UInt8
        var mintedAt: Timestamp
        /// The length of the current token: ``TokenMinter/shortLength``, or 0 for an encrypted one.
        var tokenLength = 0
        /// The time from which the current token is invalid, or `nil` while the app is on the device.
        var endedAt: Timestamp?
        /// The end times of the tokens of earlier generations, the oldest first. At most ``remembered`` are kept.
        var earlier: [(generation: UInt32, endedAt: Timestamp)] = []

        var isActive: Bool { self.endedAt == nil }

        mutating func end(at time: Timestamp) { self.endedAt = min(self.endedAt ?? time, time) }

        /// Returns the time from which the token of a generation is invalid, or `nil` for a valid current token.
        func end(of generation: UInt32) -> Timestamp? {
            if generation == self.generation { return self.endedAt }
            return self.earlier.first { $0.generation >= generation }?.endedAt ?? self.mintedAt
        }

        func claims(on device: UUID) -> TokenMinter.Claims {
            .init(device: device, topic: self.hash, environment: self.environment, generation: self.generation)
        }

        /// Returns `next`, the successor of this installation, with the end times of this and earlier generations.
        func followed(by next: Self) -> Self {
            var next = next
            next.earlier = (self.earlier + [(self.generation, self.endedAt ?? next.mintedAt)]).suffix(Self.remembered)
            return next
        }
    }

    func install(_ topic: TopicHash, in environment: PushEnvironment) -> Install? {
        self.installs.first { $0.hash == topic && $0.environment == environment }
    }
}
