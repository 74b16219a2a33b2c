package import Foundation
package import ProviderModel
package import PushTypes

/// The configured bridges to other systems.
package protocol BridgeStore: Sendable {
    /// Returns the bridges of a kind in the order of their names. A row that is damaged, or whose secret cannot be
    /// opened, is left out, and is reported by the integrity check.
    func bridges(kind: BridgeKind) async throws -> [BridgeRecord]
    /// Returns the names of all bridges of a kind, including those that ``bridges(kind:)`` leaves out, with the app of each.
    func bridgeOwners(kind: BridgeKind) async throws -> [String: Int64]
    /// Returns the bridges of an app in the order of kind and name.
    func bridges(app: Int64) async throws -> [BridgeRecord]
    /// Returns a bridge; `nil` if there is none.
    /// - Throws: An error also for a row whose secret cannot be opened.
    func bridge(_ kind: BridgeKind, name: String) async throws -> BridgeRecord?
    /// Returns the bridges of some apps that are overruled by other apps: first the binary ones by name, then those of Matrix.
    func overruledBridges(apps: [Int64], limit: Int) async throws -> [OverruledBridge]
    /// Adds or changes a bridge of an app. A new bridge must be within the app's maximum, and may not match Matrix app ids of
    /// another app. The name of a binary bridge may not be a topic of another app. A bridge for the app's own topic replaces
    /// one that another app has set.
    /// - Parameter keepsSecret: `true` keeps the secret of the existing bridge, if it can be opened.
    func setBridge(_ bridge: BridgeRecord, keepsSecret: Bool) async throws -> BridgeChangeResult
    /// Removes a bridge of an app.
    /// - Returns: `false` if the app has no bridge of this name.
    func removeBridge(_ kind: BridgeKind, name: String, app: Int64) async throws -> Bool
    /// A number that rises with each change of a bridge, and with each app that is added or erased. It starts again with each
    /// process.
    var bridgeGeneration: Int { get }
}

/// The stores of the bridges that have a state, one protocol for each.
package protocol BridgeStateStore: LegacyTokenStore, ShadowStore, PushResourceStore, XMPPNodeStore, ChatSessionStore {}

/// The tokens that old providers still have to be told are invalid. The lasting state of a token is a ``TokenState``.
package protocol LegacyTokenStore: Sendable {
    /// Returns the tokens among these to which nothing is sent: tokens of inactive devices, and tokens that the push
    /// service has called invalid and whose provider has not been told yet.
    func refusedTokens(_ tokens: [DeviceToken], of target: AppEnvironment) async throws -> Set<DeviceToken>
    /// Records that a token's provider has been told that the token is invalid. The next push to it is sent.
    func takeRefusal(_ token: DeviceToken, of target: AppEnvironment) async throws
    /// Returns a page of the feedback list in the order of the tokens, without tokens that have registered since.
    /// - Parameter token: The last token of the previous page; `nil` for the first page.
    func feedbackList(of target: AppEnvironment, after token: DeviceToken?, limit: Int) async throws -> [LegacyToken]
    /// Removes entries of the feedback list that a provider has read, unless their time has changed since.
    func clearFeedback(_ entries: [LegacyToken], of target: AppEnvironment) async throws
    /// Returns the pushes that came over a bridge since a time, newest first.
    func legacyPushes(over bridge: String, app: Int64, since: Timestamp, limit: Int) async throws -> [LegacyPush]
}

/// The comparisons of bridges in shadow mode, in which nothing is sent.
package protocol ShadowStore: Sendable {
    /// Counts a request, and keeps its differences in place of the bridge's oldest ones.
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

/// The nodes of push components.
package protocol XMPPNodeStore: Sendable {
    /// Adds a node, or replaces the node of the same name if it has the same owner. The owner's oldest nodes beyond
    /// ``XMPPNodeRecord/maximumPerOwner`` are removed.
    /// - Returns: `false` if the node belongs to another owner. Nothing was changed then.
    func setXMPPNode(_ node: XMPPNodeRecord) async throws -> Bool
    /// Returns a node; `nil` if there is none.
    /// - Throws: ``DamagedRow`` if it cannot be read.
    func xmppNode(_ node: String) async throws -> XMPPNodeRecord?
    /// Returns the nodes of an owner, newest first. Nodes that cannot be read are left out.
    func xmppNodes(app: Int64, owner: XMPPNodeRecord.Owner) async throws -> [XMPPNodeRecord]
    /// Removes a node of an app.
    /// - Parameter owner: The owner of the node; `nil` for any.
    /// - Returns: `false` if there is no such node.
    func removeXMPPNode(_ node: String, app: Int64, owner: XMPPNodeRecord.Owner?) async throws -> Bool
    /// Returns the tokens of an owner's active devices of the kind alert, oldest device first.
    /// - Parameter environment: The environment of the devices; `nil` for both.
    /// - Throws: ``DamagedRow`` if there are devices, but none can be read.
    func xmppTokens(
        of owner: XMPPNodeRecord.Owner,
        app: Int64,
        environment: PushEnvironment?,
        limit: Int
    ) async throws -> [DeviceToken]
    /// Removes nodes that were created before this time and whose owner has no device.
    /// - Parameter limit: The maximum number of nodes of one call.
    /// - Returns: The number of removed nodes; less than `limit` if there are no more.
    func forgetXMPPNodes(before: Timestamp, limit: Int) async throws -> Int
}

/// The sessions that the provider keeps at chat servers for users.
package protocol ChatSessionStore: Sendable {
    /// Adds a session.
    /// - Parameters:
    ///   - perUser: The maximum number of sessions of one user.
    ///   - perApp: The maximum number of sessions of one app.
    func addChatSession(_ session: ChatSessionRecord, perUser: Int, perApp: Int) async throws
        -> ChatSessionAdditionResult
    /// Returns sessions of an app in the order in which they were added, without their passwords.
    /// - Parameters:
    ///   - user: The user whose sessions are returned; `nil` for all users.
    ///   - after: The number of the last session of the previous page; 0 for the first page.
    func chatSessions(app: Int64, user: String?, after: Int64, limit: Int) async throws -> [ChatSessionRecord]
    /// Returns a session with its password; `nil` if there is none.
    /// - Throws: An error also for a row whose password cannot be opened.
    func chatSession(_ id: UUID) async throws -> ChatSessionRecord?
    /// Returns the ids of all active sessions with their revisions.
    func activeChatSessions() async throws -> [ChatSessionKey]
    /// Changes the state of a session of an app. The last error of a session that becomes active is removed.
    /// - Parameter password: The new password; `nil` keeps the current one.
    /// - Returns: The session as it is stored, without its password; `nil` if there is none.
    func setChatSessionState(
        _ state: ChatSessionRecord.State,
        of id: UUID,
        app: Int64,
        password: String?,
        now: Timestamp
    ) async throws -> ChatSessionRecord?
    /// Removes a session of an app.
    /// - Returns: `false` if the app has no session with this id.
    func removeChatSession(_ id: UUID, app: Int64) async throws -> Bool
    /// Writes the progress of sessions in one transaction. Progress is dropped if the session has another revision by now, or
    /// is not active.
    func noteChatSessions(_ progress: [ChatSessionKey: ChatSessionProgress]) async throws
}
