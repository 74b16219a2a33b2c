package import PushTypes

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
