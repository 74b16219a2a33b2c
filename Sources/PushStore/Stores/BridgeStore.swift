/// The configured bridges to other systems.
package protocol BridgeStore: Sendable {
    /// Returns the bridges of a kind in the order of their names. A row that is damaged, or whose secret does not open, is
    /// left out and named in the log of the damage search.
    func bridges(kind: BridgeKind) async throws -> [BridgeRecord]
    /// Returns the names of the bridges of a kind, with those that ``bridges(kind:)`` leaves out, and the app of each.
    func bridgeOwners(kind: BridgeKind) async throws -> [String: Int64]
    /// Returns the bridges of an app in the order of kind and name.
    func bridges(app: Int64) async throws -> [BridgeRecord]
    /// Returns a bridge; `nil` if there is none.
    /// - Throws: An error also for a row whose secret does not open.
    func bridge(_ kind: BridgeKind, name: String) async throws -> BridgeRecord?
    /// Returns bridges of some apps that lose pushes to other apps: first the binary ones by name, then those of Matrix.
    func overruledBridges(apps: [Int64], limit: Int) async throws -> [OverruledBridge]
    /// Sets a bridge of an app. A new one counts among those of its app, and may not take Matrix app ids of another app. The name of
    /// a binary bridge may not be another app's topic. A bridge for an app's own topic replaces one that another app has set.
    /// - Parameter keepsSecret: `true` keeps the secret of the bridge before, if there is one that opens.
    func setBridge(_ bridge: BridgeRecord, keepsSecret: Bool) async throws -> BridgeChangeResult
    /// Removes a bridge of an app.
    /// - Returns: `false` if the app has none of this name.
    func removeBridge(_ kind: BridgeKind, name: String, app: Int64) async throws -> Bool
    /// A number that rises with each change of any bridge, and with each app that is added or erased. It begins anew with the
    /// process.
    var bridgeGeneration: Int { get }
}
