package import PushTypes

/// The comparisons of bridges in shadow mode, in which nothing is sent.
package protocol ShadowStore: Sendable {
    /// Counts a request, and keeps its differences. The oldest ones of the bridge give way.
    func addShadow(
        _ comparison: ShadowComparison,
        of kind: BridgeKind,
        name: String,
        app: Int64,
        now: Timestamp
    ) async throws
    /// Returns the report about a bridge; `nil` if no request was compared.
    func shadow(_ kind: BridgeKind, name: String, app: Int64) async throws -> ShadowReport?
    /// Deletes the report about a bridge.
    func clearShadow(_ kind: BridgeKind, name: String, app: Int64) async throws
}
