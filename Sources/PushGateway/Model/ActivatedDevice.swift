import Foundation
import PushTypes
import PushWire

/// An activated device, and the apps on it.
struct ActivatedDevice: Sendable {
    var id: UUID
    var name: String?
    var activatedAt: Timestamp
    var deletedAt: Timestamp?
    /// The time at which it last connected or disconnected.
    var lastSeenAt: Timestamp?
    /// The serial number of its valid certificate, in lower-case hexadecimal.
    var certificateSerial: String?
    /// The time at which its certificate was revoked; `nil` if it is valid.
    var revokedAt: Timestamp?
    /// The number of installations of its system. Base tokens of earlier ones are invalid.
    var epoch: UInt32 = 0
    var installs: [Install] = []

    /// One app of a device in one environment, through all its installations there.
    struct Install: Sendable {
        /// The maximum number of earlier tokens whose ends are remembered. Older ones count as ended with the oldest of them.
        static let remembered = 32

        var environment: PushEnvironment
        var topic: Topic
        var hash: TopicHash
        /// The number of the current token: a token of an earlier generation is invalid.
        var generation: UInt32
        /// The id of the token key with which the current token was minted.
        var keyID: UInt8
        var mintedAt: Timestamp
        /// The length of the current token: ``TokenMinter/shortLength``, or 0 for a sealed one.
        var tokenLength = 0
        /// The end of the current token; `nil` while the app is on the device.
        var endedAt: Timestamp?
        /// The ends of the tokens of earlier generations, oldest first.
        var earlier: [(generation: UInt32, endedAt: Timestamp)] = []

        var isActive: Bool { self.endedAt == nil }

        /// Ends the current token at `time`, unless it ended before.
        mutating func end(at time: Timestamp) { self.endedAt = min(self.endedAt ?? time, time) }

        /// Returns the end of the token of a generation; `nil` for the current one while it is valid.
        func end(of generation: UInt32) -> Timestamp? {
            if generation == self.generation { return self.endedAt }
            return self.earlier.first { $0.generation >= generation }?.endedAt ?? self.mintedAt
        }

        /// Returns the identity behind the current token.
        func claims(on device: UUID) -> TokenMinter.Claims {
            .init(device: device, topic: self.hash, environment: self.environment, generation: self.generation)
        }

        /// Returns `next` with the ends of this generation and of the earlier ones.
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
