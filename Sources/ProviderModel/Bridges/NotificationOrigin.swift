/// The bridge through which a notification arrived.
package struct NotificationOrigin: Hashable, Sendable, CustomStringConvertible {
    package var kind: BridgeKind
    /// The name of the bridge (``BridgeRecord/name``).
    package var bridge: String

    package init(_ kind: BridgeKind, bridge: String) { (self.kind, self.bridge) = (kind, bridge) }

    /// Reads the text that ``description`` writes, or returns `nil` for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let kind = BridgeKind(rawValue: String(parts[0])) else { return nil }
        self.init(kind, bridge: String(parts[1]))
    }

    /// The kind and the name, such as `matrix com.example.MyApp.ios.prod`.
    package var description: String { "\(self.kind.rawValue) \(self.bridge)" }
}
