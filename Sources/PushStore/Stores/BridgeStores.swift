package import Foundation
package import ProviderModel
package import PushTypes

/// The store of the configured bridges to other systems.
package protocol BridgeStore: Sendable {
    /// Returns the bridges of a kind in the order of their names. A bridge that is damaged, or whose secret cannot be
    /// opened, is left out. The integrity check reports it.
    func bridges(kind: BridgeKind) async throws -> [BridgeRecord]
    /// Returns the app of each bridge of a kind by the bridge's name, even if ``bridges(kind:)`` leaves it out.
    func bridgeOwners(kind: BridgeKind) async throws -> [String: Int64]
    /// Returns the bridges of an app, sorted by kind and name.
    func bridges(app: Int64) async throws -> [BridgeRecord]
    /// Returns the bridge of a kind with this name, or `nil` if there is none.
    /// - Throws: ``DamagedRow`` if the bridge cannot be read or its secret cannot be opened.
    func bridge(_ kind: BridgeKind, name: String) async throws -> BridgeRecord?
    /// Returns the bridges, among those of the given apps, that lose pushes to another app (``OverruledBridge``):
    /// binary bridges first, then Matrix bridges.
    func overruledBridges(apps: [Int64], limit: Int) async throws -> [OverruledBridge]
    /// Adds or changes a bridge of an app. A new bridge must not exceed the app's maximum, and must not match Matrix
    /// app ids of another app. The name of a binary bridge must not be a topic of another app. A bridge for the app's
    /// own topic replaces a bridge of another app. If the bridge is refused, the result names the reason.
    /// - Parameter keepsSecret: Whether the secret of the existing bridge is kept, if it can be opened. Otherwise the
    ///   secret in `bridge` is stored.
    func setBridge(_ bridge: BridgeRecord, keepsSecret: Bool) async throws -> BridgeChangeResult
    /// Removes a bridge of an app.
    /// - Returns: `true`, or `false` if the app has no bridge with this name.
    func removeBridge(_ kind: BridgeKind, name: String, app: Int64) async throws -> Bool
    /// A number that rises with each change of a bridge, and with each addition or erasure of an app, so that a caller
    /// knows when to read the bridges again. It starts at 0 in each process.
    var bridgeGeneration: Int { get }
}

/// The stores of the bridges that have state, one protocol for each kind of state.
package protocol BridgeStateStore: LegacyTokenStore, ShadowStore, PushResourceStore, XMPPNodeStore, ChatSessionStore {}

/// The store of the invalid tokens that have yet to be reported to providers that use the legacy protocol.
package protocol LegacyTokenStore: Sendable {
    /// Returns the tokens, among the given ones, to which nothing is sent: those of inactive devices, and those that
    /// the push service has rejected as invalid without the provider having been told yet.
    func refusedTokens(_ tokens: [DeviceToken], of target: AppEnvironment) async throws -> Set<DeviceToken>
    /// Records that the provider of a token was told that the token is invalid, so that the next push to it is sent.
    func takeRefusal(_ token: DeviceToken, of target: AppEnvironment) async throws
    /// Returns a page of the feedback list, which reports invalid tokens to a provider, sorted by token. Tokens that
    /// have been registered since are left out.
    /// - Parameter token: The last token of the previous page, or `nil` for the first page.
    func feedbackList(of target: AppEnvironment, after token: DeviceToken?, limit: Int) async throws -> [LegacyToken]
    /// Removes entries of the feedback list that a provider has read. An entry stays if its time has changed since.
    func clearFeedback(_ entries: [LegacyToken], of target: AppEnvironment) async throws
    /// Returns the pushes that arrived over the binary bridge with this name since a time, newest first.
    func legacyPushes(over bridge: String, app: Int64, since: Timestamp, limit: Int) async throws -> [LegacyPush]
}

/// The store of the comparisons that bridges in shadow mode, which send nothing, make with the pushes of an old server.
package protocol ShadowStore: Sendable {
    /// Counts a compared request, and stores its differences. The bridge's oldest differences beyond
    /// ``ShadowReport/maximumDifferences`` are dropped.
    func addShadow(
        _ comparison: ShadowComparison,
        of kind: BridgeKind,
        name: String,
        app: Int64,
        now: Timestamp
    ) async throws
    /// Returns the report of a bridge's comparisons, or `nil` if no request was compared.
    func shadow(_ kind: BridgeKind, name: String, app: Int64) async throws -> ShadowReport?
    /// Deletes the report of a bridge's comparisons.
    func clearShadow(_ kind: BridgeKind, name: String, app: Int64) async throws
}

/// The store of the nodes of XMPP push components. A node belongs to an installation or a user of an app.
package protocol XMPPNodeStore: Sendable {
    /// Adds a node, or replaces the node with the same name and owner. The oldest nodes of the owner beyond
    /// ``XMPPNodeRecord/maximumPerOwner`` are removed.
    /// - Returns: `true`, or `false` if the node belongs to another owner, in which case nothing is changed.
    func setXMPPNode(_ node: XMPPNodeRecord) async throws -> Bool
    /// Returns the node with this name, or `nil` if there is none.
    /// - Throws: ``DamagedRow`` if the node cannot be read.
    func xmppNode(_ node: String) async throws -> XMPPNodeRecord?
    /// Returns the nodes of an owner, newest first. Nodes that cannot be read are left out.
    func xmppNodes(app: Int64, owner: XMPPNodeRecord.Owner) async throws -> [XMPPNodeRecord]
    /// Removes a node of an app.
    /// - Parameter owner: The owner that the node must have, or `nil` for any owner.
    /// - Returns: `true`, or `false` if there is no such node.
    func removeXMPPNode(_ node: String, app: Int64, owner: XMPPNodeRecord.Owner?) async throws -> Bool
    /// Returns the tokens for alerts of an owner's active devices, oldest devices first.
    /// - Parameter environment: The environment of the devices, or `nil` for both.
    /// - Throws: ``DamagedRow`` if there are devices and none of them can be read.
    func xmppTokens(
        of owner: XMPPNodeRecord.Owner,
        app: Int64,
        environment: PushEnvironment?,
        limit: Int
    ) async throws -> [DeviceToken]
    /// Removes nodes that were created before a time and whose owners have no devices.
    /// - Parameter limit: The maximum number of nodes that one call removes.
    /// - Returns: The number of removed nodes. If it is less than `limit`, no more are left.
    func forgetXMPPNodes(before: Timestamp, limit: Int) async throws -> Int
}

/// The store of the sessions that the provider maintains at chat servers on behalf of users.
package protocol ChatSessionStore: Sendable {
    /// Adds a session, unless the user or the app already has the maximum number, as the result then tells.
    /// - Parameters:
    ///   - perUser: The maximum number of sessions that a user may have.
    ///   - perApp: The maximum number of sessions that an app may have.
    func addChatSession(_ session: ChatSessionRecord, perUser: Int, perApp: Int) async throws
        -> ChatSessionAdditionResult
    /// Returns sessions of an app in the order in which they were added, with their passwords left out.
    /// - Parameters:
    ///   - user: The user whose sessions are returned, or `nil` for all users.
    ///   - after: The number of the last session of the previous page, or 0 for the first page.
    func chatSessions(app: Int64, user: String?, after: Int64, limit: Int) async throws -> [ChatSessionRecord]
    /// Returns a session with its password, or `nil` if there is none.
    /// - Throws: ``DamagedRow`` if the session cannot be read or its password cannot be opened.
    func chatSession(_ id: UUID) async throws -> ChatSessionRecord?
    /// Returns the keys of all active sessions: their ids and revisions.
    func activeChatSessions() async throws -> [ChatSessionKey]
    /// Changes the state of an app's session. A session that becomes active loses its last error.
    /// - Parameter password: The new password, or `nil` to keep the current one.
    /// - Returns: The session as it is stored, without its password, or `nil` if the app has no session with this id.
    func setChatSessionState(
        _ state: ChatSessionRecord.State,
        of id: UUID,
        app: Int64,
        password: String?,
        now: Timestamp
    ) async throws -> ChatSessionRecord?
    /// Removes a session of an app.
    /// - Returns: `true`, or `false` if the app has no session with this id.
    func removeChatSession(_ id: UUID, app: Int64) async throws -> Bool
    /// Stores the progress of sessions in one transaction. The progress of a session is dropped if the session's
    /// revision has changed, or if the session is not active.
    func noteChatSessions(_ progress: [ChatSessionKey: ChatSessionProgress]) async throws
}
