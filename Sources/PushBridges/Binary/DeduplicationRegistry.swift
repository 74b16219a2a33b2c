import Foundation
import PushSupport
import PushTypes
import Synchronization

/// The deduplication windows of all old providers: one for each certificate, and one for each bridge after a start. Another app that gets
/// the certificate or the bridge has windows of its own, as nothing was stored for it.
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

    /// Remembers a push that was stored.
    func stored(_ key: DeduplicationWindow.Key, from client: BinaryClient, on connection: UUID) {
        guard client.dropsRepeats else { return }
        self.change(Self.certificate(of: client)) { $0.stored(key, on: connection, now: $1) }
    }

    /// Handles the end of a connection, see ``DeduplicationWindow/connectionEnded(_:isBroken:now:)``.
    func connectionEnded(_ connection: UUID, of client: BinaryClient, isBroken: Bool) {
        self.change(Self.certificate(of: client)) { $0.connectionEnded(connection, isBroken: isBroken, now: $1) }
    }

    /// Remembers pushes that came over a bridge before the process started: all its connections are broken.
    func expect(_ keys: [DeduplicationWindow.Key], over bridge: String, of app: Int64) {
        self.change(.bridge(name: bridge, app: app)) { $0.expect(keys, now: $1) }
    }

    /// Returns whether a push was stored before a break. Each is recognized once.
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
