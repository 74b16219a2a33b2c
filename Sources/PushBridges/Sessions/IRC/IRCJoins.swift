import PushSupport
import PushTypes

/// The channels that a server did not let the session join, and the times of the next attempts.
struct IRCJoins: Hashable, Sendable {
    /// Returns whether a command is a numeric error reply. Servers have many different errors for channels, and the
    /// only requests of this client that name a channel are joins.
    static func isRefusal(_ command: String) -> Bool {
        let digits = Array(command.utf8)
        return digits.count == 3 && (digits.starts(with: "4".utf8) || digits.starts(with: "5".utf8))
    }

    /// The delays between attempts to join a channel that the server has refused.
    private static let backoff = Backoff(base: .seconds(60), maximum: .seconds(3600))

    private struct Refusal: Hashable {
        var channel: String
        var reason: String
        var tries: Int
        /// The time of the next attempt, or `nil` while the server's reply to an attempt is pending.
        var nextTry: Timestamp?
    }

    /// The configured channels, keyed by their names in lower case by the case mapping of RFC 1459.
    private let channels: [[UInt8]: String]
    private var refused: [[UInt8]: Refusal] = [:]

    init(_ channels: [String]) {
        self.channels = Dictionary(channels.map { (IRCSession.folded($0), $0) }) { first, _ in first }
    }

    var nextTry: Timestamp? { self.refused.isEmpty ? nil : self.refused.values.compactMap(\.nextTry).min() }

    /// A human-readable description of the refusals, or `nil` if there are none.
    var trouble: String? {
        guard let first = self.refused.values.min(by: { $0.channel < $1.channel }) else { return nil }
        let others = self.refused.count > 1 ? " (and \(self.refused.count - 1) more)" : ""
        return "the channel \(first.channel) cannot be joined\(others), trying again: \(first.reason)"
    }

    /// Records that the server has refused a join. Returns `false` if the channel is not configured.
    mutating func refused(_ name: [UInt8], _ reason: String, at now: Timestamp) -> Bool {
        guard let channel = self.channels[name] else { return false }
        let tries = min((self.refused[name]?.tries ?? 0) + 1, 1000)
        let delay = Self.backoff.limit(afterFailures: tries)
        self.refused[name] = Refusal(channel: channel, reason: reason, tries: tries, nextTry: now.advanced(by: delay))
        return true
    }

    /// Records that a channel was joined. Returns `true` if the server had refused the channel before.
    mutating func joined(_ name: [UInt8]) -> Bool { self.refused.removeValue(forKey: name) != nil }

    /// Returns the refused channels whose next attempt is due, and marks these attempts as pending.
    mutating func takeDue(at now: Timestamp) -> [String] {
        var due: [String] = []
        for (name, refusal) in self.refused {
            guard let nextTry = refusal.nextTry, nextTry <= now else { continue }
            self.refused[name]?.nextTry = nil
            due.append(refusal.channel)
        }
        return due.sorted()
    }
}
