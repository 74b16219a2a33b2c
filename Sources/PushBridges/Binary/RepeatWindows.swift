import Foundation
import PushSupport
import PushTypes
import Synchronization

/// The repeat windows of all old providers: one for each certificate, and one for each bridge after a start.
final class RepeatWindows: Sendable {
    private let limits: RepeatWindow.Limits
    private let time: any TimeSource
    private let windows = Mutex<[String: RepeatWindow]>([:])

    init(limits: RepeatWindow.Limits = .init(), time: any TimeSource) { (self.limits, self.time) = (limits, time) }

    /// Remembers a push that was stored.
    func stored(_ key: RepeatWindow.Key, from client: BinaryClient, on connection: UUID) {
        guard client.dropsRepeats else { return }
        self.change(client.fingerprint) { $0.stored(key, on: connection, now: $1) }
    }

    /// Handles the end of a connection, see ``RepeatWindow/connectionEnded(_:isBroken:now:)``.
    func connectionEnded(_ connection: UUID, of client: BinaryClient, isBroken: Bool) {
        self.change(client.fingerprint) { $0.connectionEnded(connection, isBroken: isBroken, now: $1) }
    }

    /// Remembers pushes that came over a bridge before the process started: all its connections are broken.
    func expect(_ keys: [RepeatWindow.Key], over bridge: String) {
        self.change(Self.name(of: bridge)) { $0.expect(keys, now: $1) }
    }

    /// Returns whether a push was stored before a break. Each is recognized once.
    func takeRepeat(_ key: RepeatWindow.Key, from client: BinaryClient) -> Bool {
        guard client.dropsRepeats else { return false }
        return self.change(client.fingerprint) { $0.takeRepeat(key, now: $1) }
            || self.change(Self.name(of: client.bridge)) { $0.takeRepeat(key, now: $1) }
    }

    private static func name(of bridge: String) -> String { "bridge \(bridge)" }

    private func change<Value>(_ fingerprint: String, _ body: (inout RepeatWindow, Timestamp) -> Value) -> Value {
        let now = self.time.steady
        return self.windows.withLock { windows in
            var window = windows.removeValue(forKey: fingerprint) ?? RepeatWindow(limits: self.limits)
            defer { if !window.isEmpty { windows[fingerprint] = window } }
            return body(&window, now)
        }
    }
}
