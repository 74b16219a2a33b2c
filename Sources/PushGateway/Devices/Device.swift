import Foundation
import PushTypes
import PushWire

/// A device that was activated, and the apps on it.
struct Device: Hashable, Sendable {
    var id: UUID
    var name: String?
    var activatedAt: Timestamp
    var deletedAt: Timestamp?
    /// When it last connected or disconnected.
    var lastSeenAt: Timestamp?
    /// Of the certificate that is good now, lower-case hexadecimal; `nil` for one from before serials were kept.
    var certificateSerial: String?
    /// Since when no certificate of it is good.
    var revokedAt: Timestamp?
    /// Counts installations of its system: a base token of an earlier one is not good any more.
    var epoch: UInt32 = 0
    var installs: [Install] = []

    /// One app of a device in one environment, through all its installations there.
    struct Install: Hashable, Sendable {
        /// Ends of earlier tokens that are remembered; those before count as ended with the oldest of them.
        static let remembered = 32

        var environment: PushEnvironment
        var topic: Topic
        var hash: TopicHash
        /// Counts the tokens minted: a token of an earlier generation is gone.
        var generation: UInt32
        /// The token key that sealed the current token.
        var keyID: UInt8
        var mintedAt: Timestamp
        /// ``TokenMinter/shortLength`` where the current token has that many bytes, 0 where it is sealed.
        var tokenLength = 0
        /// `nil` while the app is there.
        var endedAt: Timestamp?
        /// When the tokens of earlier generations ended, oldest first.
        var earlier: [(generation: UInt32, endedAt: Timestamp)] = []

        var isActive: Bool { self.endedAt == nil }

        /// The app is not there any more; its token is good until `time`, unless it ended before that.
        mutating func end(at time: Timestamp) { self.endedAt = min(self.endedAt ?? time, time) }

        /// When the token of `generation` ended; `nil` for the current one while it is good.
        func end(of generation: UInt32) -> Timestamp? {
            if generation == self.generation { return self.endedAt }
            return self.earlier.first { $0.generation >= generation }?.endedAt ?? self.mintedAt
        }

        static func == (left: Self, right: Self) -> Bool {
            (left.environment, left.hash, left.generation, left.endedAt)
                == (right.environment, right.hash, right.generation, right.endedAt)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(self.hash)
            hasher.combine(self.generation)
        }
    }

    func install(_ topic: TopicHash, in environment: PushEnvironment) -> Install? {
        self.installs.first { $0.hash == topic && $0.environment == environment }
    }
}
