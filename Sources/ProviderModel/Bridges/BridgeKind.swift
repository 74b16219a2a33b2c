/// The protocol of another system that a bridge translates into notifications. Each bridge declares its own.
package struct BridgeKind: RawRepresentable, Hashable, Sendable {
    /// The Matrix push gateway API. The name of a bridge is the `app_id`, or a pattern with `*` and `?`.
    package static let matrix = BridgeKind("matrix")
    /// The legacy binary interface for old providers. The name of a bridge is its topic.
    package static let binary = BridgeKind("binary")

    /// The name of the kind, in lower case.
    package let rawValue: String

    package init(_ name: String) { self.rawValue = name }

    /// Reads the name of a kind, or returns `nil` for a text that is not a valid name.
    package init?(rawValue: String) {
        guard !rawValue.isEmpty, rawValue.utf8.allSatisfy({ (0x61...0x7a).contains($0) }) else { return nil }
        self.rawValue = rawValue
    }
}
