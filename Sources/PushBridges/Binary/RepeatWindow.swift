import Crypto
import Foundation
import NIOCore
import PushStore
import PushTypes
import PushWire

/// Recognizes the pushes that an old provider sends again after a broken connection, although they were stored.
///
/// An old provider that loses its connection without an error packet cannot know what was stored, and sends again what it
/// remembers. Each stored push is recognized once, within a minute of the break. Equal pushes on an unbroken connection are
/// meant.
struct RepeatWindow: Sendable {
    /// What makes two pushes of a provider equal: token, payload and expiration.
    struct Key: Hashable, Sendable {
        private let digest: [UInt8]

        init(token: [UInt8], payload: some DataProtocol, expiration: String?) {
            var hash = SHA256()
            withUnsafeBytes(of: UInt32(clamping: token.count).bigEndian) { hash.update(bufferPointer: $0) }
            hash.update(data: token)
            hash.update(data: Array((expiration ?? "none").utf8) + [0])
            hash.update(data: payload)
            self.digest = Array(hash.finalize())
        }

        init(_ notification: BinaryNotification) {
            self.init(
                token: notification.token,
                payload: notification.payload.readableBytesView,
                expiration: notification.expiration.map(String.init)
            )
        }

        init(_ push: LegacyPush) {
            self.init(token: push.token.bytes, payload: push.payload, expiration: push.expiration)
        }
    }

    struct Limits: Hashable, Sendable {
        /// The time for which a push is remembered, and recognized after a break. Default 60 s.
        var time: Duration = .seconds(60)
        /// The pushes that are remembered of one connection, and after breaks. Default 10,000.
        var count = 10_000
    }

    private let limits: Limits
    /// The pushes that open connections have stored lately.
    private var stored: [UUID: [(key: Key, at: Timestamp)]] = [:]
    /// The pushes that may come again, with their number.
    private var expected: [Key: Int] = [:]
    /// The end of the time in which they are recognized; `nil` while none is.
    private var until: Timestamp?

    init(limits: Limits = Limits()) { self.limits = limits }

    /// Indicates whether nothing is remembered.
    var isEmpty: Bool { self.stored.isEmpty && self.expected.isEmpty }

    /// Remembers a push that was stored.
    mutating func stored(_ key: Key, on connection: UUID, now: Timestamp) {
        self.stored[connection, default: []].append((key, now))
        guard let count = self.stored[connection]?.count, count > self.limits.count * 2 else { return }
        // The older half goes at once, so that this is rare.
        self.stored[connection]?.removeFirst(self.limits.count)
    }

    /// Handles the end of a connection.
    /// - Parameter isBroken: Whether the provider cannot know what was stored.
    mutating func connectionEnded(_ connection: UUID, isBroken: Bool, now: Timestamp) {
        guard let keys = self.stored.removeValue(forKey: connection), isBroken else { return }
        let recent = keys.suffix(self.limits.count).filter { now.since($0.at) <= self.limits.time }
        self.expect(recent.map(\.key), now: now)
    }

    /// Remembers pushes that were stored before a crash.
    mutating func expect(_ keys: some Sequence<Key>, now: Timestamp) {
        self.forgetOld(now: now)
        var room = self.limits.count - self.expected.values.reduce(0, +)
        for key in keys {
            guard room > 0 else { break }
            self.expected[key, default: 0] += 1
            room -= 1
        }
        if !self.expected.isEmpty { self.until = now.advanced(by: self.limits.time) }
    }

    /// Returns whether a push was stored before a break. Each is recognized once.
    mutating func takeRepeat(_ key: Key, now: Timestamp) -> Bool {
        self.forgetOld(now: now)
        guard let count = self.expected[key] else { return false }
        self.expected[key] = count > 1 ? count - 1 : nil
        return true
    }

    private mutating func forgetOld(now: Timestamp) {
        guard let until, until <= now else { return }
        (self.expected, self.until) = ([:], nil)
    }
}
