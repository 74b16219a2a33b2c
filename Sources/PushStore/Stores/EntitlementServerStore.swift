/// The publishers' servers that decide about entitlement, one of an app at most.
package protocol EntitlementServerStore: Sendable {
    /// Returns the server of an app; `nil` if it has none.
    /// - Throws: An error also for a row whose secret does not open.
    func entitlementServer(app: Int64) async throws -> EntitlementServerRecord?
    /// Sets the server of an app.
    /// - Parameter keepsSecret: `true` keeps the secret of the server before, if there is one that opens.
    /// - Returns: The server as it is stored.
    func setEntitlementServer(
        _ server: EntitlementServerRecord,
        keepsSecret: Bool
    ) async throws -> EntitlementServerRecord
    /// Removes the server of an app.
    /// - Returns: `false` if it has none.
    func removeEntitlementServer(app: Int64) async throws -> Bool
}
