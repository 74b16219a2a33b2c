package import Foundation
package import PushTypes

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

/// The news for old providers about their tokens, until they know it. What is known about a token lasts: see ``TokenState``.
package protocol LegacyTokenStore: Sendable {
    /// Returns the tokens among some to which nothing is sent: those of inactive devices, and those that the push service
    /// has called invalid and whose provider was not told yet.
    func refusedTokens(_ tokens: [DeviceToken], of target: AppEnvironment) async throws -> Set<DeviceToken>
    /// Remembers that a token's provider was told that it is invalid. Its next push is sent.
    func takeRefusal(_ token: DeviceToken, of target: AppEnvironment) async throws
    /// Returns a page of the feedback list in the order of the tokens, without those that have registered since.
    /// - Parameter token: The last token of the page before; `nil` for the first page.
    func feedbackList(of target: AppEnvironment, after token: DeviceToken?, limit: Int) async throws -> [LegacyToken]
    /// Removes entries that a provider has read, unless their time has changed since.
    func clearFeedback(_ entries: [LegacyToken], of target: AppEnvironment) async throws
    /// Returns the pushes that came over a bridge since a time, the newest first.
    func legacyPushes(over bridge: String, app: Int64, since: Timestamp, limit: Int) async throws -> [LegacyPush]
}

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

/// The sessions that the provider keeps at chat servers for users.
package protocol ChatSessionStore: Sendable {
    /// Adds a session.
    /// - Parameters:
    ///   - perUser: The most sessions of its user.
    ///   - perApp: The most sessions of its app.
    func addChatSession(_ session: ChatSessionRecord, perUser: Int, perApp: Int) async throws
        -> ChatSessionAdditionResult
    /// Returns sessions of an app in the order in which they were added, without their passwords.
    /// - Parameters:
    ///   - user: The user whose sessions they are; `nil` for those of all users.
    ///   - after: The number of the last session of the page before; 0 for the first page.
    func chatSessions(app: Int64, user: String?, after: Int64, limit: Int) async throws -> [ChatSessionRecord]
    /// Returns a session with its password; `nil` if there is none.
    /// - Throws: An error also for a row whose password does not open.
    func chatSession(_ id: UUID) async throws -> ChatSessionRecord?
    /// Returns the versions of all active sessions.
    func activeChatSessions() async throws -> [ChatSessionKey]
    /// Changes the state of a session of an app. An active one forgets its last error.
    /// - Parameter password: The new password; `nil` leaves the present one.
    /// - Returns: The session as it is stored, without its password; `nil` if there is none.
    func setChatSessionState(
        _ state: ChatSessionRecord.State,
        of id: UUID,
        app: Int64,
        password: String?,
        now: Timestamp
    ) async throws -> ChatSessionRecord?
    /// Removes a session of an app.
    /// - Returns: `false` if the app has none with this id.
    func removeChatSession(_ id: UUID, app: Int64) async throws -> Bool
    /// Writes the progress of sessions in one transaction. That of a version which is no more, or is not active, is dropped.
    func noteChatSessions(_ progress: [ChatSessionKey: ChatSessionProgress]) async throws
}
