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
struct DeduplicationWindow: Sendable {
    /// The parts that make two pushes of a provider equal: token, payload and expiration.
    struct Key: Hashable, Sendable {
        private let digest: SHA256.Digest

        init(token: [UInt8], payload: some DataProtocol, expiration: String?) {
            var hash = SHA256()
            withUnsafeBytes(of: UInt32(clamping: token.count).bigEndian) { hash.update(bufferPointer: $0) }
            hash.update(data: token)
            hash.update(data: Array((expiration ?? "none").utf8) + [0])
            hash.update(data: payload)
            self.digest = hash.finalize()
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

    /// The pushes that a connection has stored lately, the oldest first.
    private struct Memory: Sendable {
        private(set) var pushes = CircularBuffer<(key: Key, at: Timestamp)>()

        mutating func add(_ key: Key, now: Timestamp, limits: Limits) {
            while let first = self.pushes.first,
                self.pushes.count >= limits.count || now.since(first.at) > limits.time
            {
                self.pushes.removeFirst()
            }
            self.pushes.append((key, now))
        }
    }

    /// A push that may come again.
    private struct Expectation: Sendable {
        /// The number of times.
        var count: Int
        /// The time from which it is another push.
        var until: Timestamp
    }

    private let limits: Limits
    private var stored: [UUID: Memory] = [:]
    private var expected: [Key: Expectation] = [:]
    /// The time from which nothing is expected any more; `nil` while nothing is.
    private var until: Timestamp?

    init(limits: Limits = Limits()) { self.limits = limits }

    /// Indicates whether nothing is remembered.
    var isEmpty: Bool { self.stored.isEmpty && self.expected.isEmpty }

    /// Remembers a push that was stored.
    mutating func stored(_ key: Key, on connection: UUID, now: Timestamp) {
        self.stored[connection, default: Memory()].add(key, now: now, limits: self.limits)
    }

    /// Handles the end of a connection.
    /// - Parameter isBroken: Whether the provider cannot know what was stored.
    mutating func connectionEnded(_ connection: UUID, isBroken: Bool, now: Timestamp) {
        guard let memory = self.stored.removeValue(forKey: connection), isBroken else { return }
        let recent = memory.pushes.filter { now.since($0.at) <= self.limits.time }
        self.expect(recent.map(\.key), now: now)
    }

    /// Remembers pushes that were stored before a crash.
    mutating func expect(_ keys: some Sequence<Key>, now: Timestamp) {
        self.expected = self.expected.filter { $0.value.until > now }
        var room = self.limits.count - self.expected.values.reduce(0) { $0 + $1.count }
        let until = now.advanced(by: self.limits.time)
        for key in keys {
            guard room > 0 else { break }
            self.expected[key] = Expectation(count: (self.expected[key]?.count ?? 0) + 1, until: until)
            room -= 1
        }
        self.until = self.expected.isEmpty ? nil : until
    }

    /// Returns whether a push was stored before a break. Each is recognized once.
    mutating func takeRepeat(_ key: Key, now: Timestamp) -> Bool {
        if let until, until <= now { (self.expected, self.until) = ([:], nil) }
        guard var expectation = self.expected.removeValue(forKey: key), expectation.until > now else { return false }
        expectation.count -= 1
        if expectation.count > 0 { self.expected[key] = expectation }
        return true
    }
}
