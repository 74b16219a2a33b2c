package import PushTypes

/// The nodes of push components.
package protocol XMPPNodeStore: Sendable {
    /// Adds a node, or replaces the node of the same name if it is the same owner's. Of the owner's nodes the oldest give way to
    /// ``XMPPNodeRecord/maximumPerOwner``.
    /// - Returns: `false` if the node is another owner's, and nothing was changed.
    func setXMPPNode(_ node: XMPPNodeRecord) async throws -> Bool
    /// Returns a node; `nil` if there is none.
    /// - Throws: ``DamagedRow`` if it cannot be read.
    func xmppNode(_ node: String) async throws -> XMPPNodeRecord?
    /// Returns the nodes of an owner, the newest first. Those that cannot be read are left out.
    func xmppNodes(app: Int64, owner: XMPPNodeRecord.Owner) async throws -> [XMPPNodeRecord]
    /// Removes a node of an app.
    /// - Parameter owner: Its owner; `nil` for any.
    /// - Returns: `false` if there is none.
    func removeXMPPNode(_ node: String, app: Int64, owner: XMPPNodeRecord.Owner?) async throws -> Bool
    /// Returns the tokens of the active devices of a node's owner that alerts go to, the oldest device first.
    /// - Parameter environment: The environment of the devices; `nil` for both.
    /// - Throws: ``DamagedRow`` if there are devices, and none can be read.
    func xmppTokens(
        of owner: XMPPNodeRecord.Owner,
        app: Int64,
        environment: PushEnvironment?,
        limit: Int
    ) async throws -> [DeviceToken]
    /// Removes nodes that were made before this time and whose owner has no device.
    /// - Parameter limit: The most nodes of one call.
    /// - Returns: The number of removed nodes; less than `limit` when there are no more.
    func forgetXMPPNodes(before: Timestamp, limit: Int) async throws -> Int
}
