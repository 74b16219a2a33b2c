import Foundation
import PushTypes
import PushWire

struct ActivatedDevice: Sendable {
    var id: UUID
    var name: String?
    var activatedAt: Timestamp
    var deletedAt: Timestamp?
    /// The time at which the device last connected or disconnected; `nil` if it never did.
    var lastSeenAt: Timestamp?
    /// The serial number of the device's only valid certificate, in lower-case hexadecimal; `nil` if any may be used.
    var certificateSerial: String?
    /// The time at which the device's certificate was revoked; `nil` if it is valid.
    var revokedAt: Timestamp?
    /// The number of reinstallations of the device's system. Each invalidates the device's base token, see
    /// ``TokenMinter``.
    var epoch: UInt32 = 0
    var installs: [Install] = []

    /// One app on a device in one environment, with the current and the earlier tokens that it had there.
    struct Install: Sendable {
        /// The maximum number of earlier tokens whose end times are kept. For older ones, the oldest kept time applies.
        static let remembered = 32

        var environment: PushEnvironment
        var topic: Topic
        var hash: TopicHash
        /// The generation of the current token. A token of an earlier generation is invalid.
        var generation: UInt32
        /// The id of the token key with which the current token was minted.
        var keyID: UInt8
        var mintedAt: Timestamp
        /// The length of the current token: ``TokenMinter/shortLength``, or 0 for an encrypted one.
        var tokenLength = 0
        /// The time from which the current token is invalid; `nil` while the app is on the device.
        var endedAt: Timestamp?
        /// The end times of the tokens of earlier generations, oldest first; at most ``remembered``.
        var earlier: [(generation: UInt32, endedAt: Timestamp)] = []

        var isActive: Bool { self.endedAt == nil }

        /// Invalidates the current token from `time` on, unless it is invalid from an earlier time.
        mutating func end(at time: Timestamp) { self.endedAt = min(self.endedAt ?? time, time) }

        /// Returns the time from which the token of a generation is invalid; `nil` for the current one while it is
        /// valid.
        func end(of generation: UInt32) -> Timestamp? {
            if generation == self.generation { return self.endedAt }
            return self.earlier.first { $0.generation >= generation }?.endedAt ?? self.mintedAt
        }

        /// Returns the identity that the current token stands for.
        func claims(on device: UUID) -> TokenMinter.Claims {
            .init(device: device, topic: self.hash, environment: self.environment, generation: self.generation)
        }

        /// Returns the successor `next` of this installation, with the end times of this generation and of the earlier
        /// ones.
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
