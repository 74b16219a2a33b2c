import Crypto
import Foundation
import NIOCore
import ProviderModel
import PushSupport
import PushTypes
import PushWire
import Synchronization

/// Recognizes pushes that a legacy provider sends again after a broken connection, although they were stored.
///
/// A legacy provider that loses its connection without an error packet does not know which pushes were stored, and
/// sends again those that it remembers. Each stored push is recognized once, within ``Limits/time`` after the break.
/// Equal pushes on an unbroken connection are treated as different ones.
struct DeduplicationWindow: Sendable {
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
        /// The time for which a push is remembered, and a repetition recognized after a break. Default 60 s.
        var time: Duration = .seconds(60)
        /// The maximum number of pushes that are remembered for one connection, and of expected repetitions. The oldest
        /// push is forgotten for a new one, and further repetitions are treated as new pushes. Default 10,000.
        var count = 10_000
    }

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

    private struct Expectation: Sendable {
        var count: Int
        /// The time from which an equal push is treated as a new one.
        var until: Timestamp
    }

    private let limits: Limits
    private var stored: [UUID: Memory] = [:]
    private var expected: [Key: Expectation] = [:]
    /// The latest time until which a repetition is expected, or `nil` while none is expected.
    private var until: Timestamp?

    init(limits: Limits = Limits()) { self.limits = limits }

    /// A Boolean value that indicates whether the window remembers no pushes, so that it can be removed.
    var isEmpty: Bool { self.stored.isEmpty && self.expected.isEmpty }

    mutating func stored(_ key: Key, on connection: UUID, now: Timestamp) {
        self.stored[connection, default: Memory()].add(key, now: now, limits: self.limits)
    }

    /// Handles the end of a connection. If it is broken, repetitions of its recent pushes are expected. Otherwise its
    /// pushes are forgotten.
    /// - Parameter isBroken: Whether the legacy provider cannot know which notifications were stored.
    mutating func connectionEnded(_ connection: UUID, isBroken: Bool, now: Timestamp) {
        guard let memory = self.stored.removeValue(forKey: connection), isBroken else { return }
        let recent = memory.pushes.filter { now.since($0.at) <= self.limits.time }
        self.expect(recent.map(\.key), now: now)
    }

    /// Expects each push to be sent again within ``Limits/time``. Repetitions of pushes beyond ``Limits/count`` are not
    /// recognized.
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

    /// Returns `true` if a push is a repetition of one that was stored before a break, and `false` if it is new. Each
    /// stored push is recognized once.
    mutating func takeRepeat(_ key: Key, now: Timestamp) -> Bool {
        if let until, until <= now { (self.expected, self.until) = ([:], nil) }
        guard var expectation = self.expected.removeValue(forKey: key), expectation.until > now else { return false }
        expectation.count -= 1
        if expectation.count > 0 { self.expected[key] = expectation }
        return true
    }
}

/// The deduplication windows of all legacy providers. There is one window for each certificate, and one for each bridge
/// with pushes from before the start of the process. An app that takes over a certificate or a bridge has its own
/// windows, because no pushes were stored for it.
final class DeduplicationRegistry: Sendable {
    private enum Origin: Hashable {
        case certificate(fingerprint: String, app: Int64)
        case bridge(name: String, app: Int64)
    }

    private let limits: DeduplicationWindow.Limits
    private let time: any TimeSource
    private let windows = Mutex<[Origin: DeduplicationWindow]>([:])

    init(limits: DeduplicationWindow.Limits = .init(), time: any TimeSource) {
        (self.limits, self.time) = (limits, time)
    }

    /// Remembers a push that was stored over a connection, if its bridge drops repetitions.
    func stored(_ key: DeduplicationWindow.Key, from client: BinaryClient, on connection: UUID) {
        guard client.dropsRepeats else { return }
        self.change(Self.certificate(of: client)) { $0.stored(key, on: connection, now: $1) }
    }

    /// Handles the end of a client's connection, as described at
    /// ``DeduplicationWindow/connectionEnded(_:isBroken:now:)``.
    func connectionEnded(_ connection: UUID, of client: BinaryClient, isBroken: Bool) {
        self.change(Self.certificate(of: client)) { $0.connectionEnded(connection, isBroken: isBroken, now: $1) }
    }

    /// Remembers pushes that arrived over a bridge before the process started. Their connections are treated as broken.
    func expect(_ keys: [DeduplicationWindow.Key], over bridge: String, of app: Int64) {
        self.change(.bridge(name: bridge, app: app)) { $0.expect(keys, now: $1) }
    }

    /// Returns `true` if a push is a repetition of one that was stored before a break, and `false` if it is new or its
    /// bridge does not drop repetitions.
    func takeRepeat(_ key: DeduplicationWindow.Key, from client: BinaryClient) -> Bool {
        guard client.dropsRepeats else { return false }
        return self.change(Self.certificate(of: client)) { $0.takeRepeat(key, now: $1) }
            || self.change(.bridge(name: client.bridge, app: client.app)) { $0.takeRepeat(key, now: $1) }
    }

    private static func certificate(of client: BinaryClient) -> Origin {
        .certificate(fingerprint: client.fingerprint, app: client.app)
    }

    private func change<Value>(_ origin: Origin, _ body: (inout DeduplicationWindow, Timestamp) -> Value) -> Value {
        let now = self.time.steady
        return self.windows.withLock { windows in
            var window = windows.removeValue(forKey: origin) ?? DeduplicationWindow(limits: self.limits)
            defer { if !window.isEmpty { windows[origin] = window } }
            return body(&window, now)
        }
    }
}
