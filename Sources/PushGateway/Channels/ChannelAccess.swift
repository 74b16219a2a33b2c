import Foundation
import PushSupport
import PushTypes
import PushWire

/// The checks that broadcasts and channel requests have in common (reference 4.3).
struct ChannelAccess: Sendable {
    /// The longest channel id, in bytes of base64 text.
    static let maximumIDLength = 128

    let shared: ProviderSession.Shared

    /// Returns the app of the path, if the provider may broadcast to it.
    func app(
        _ name: String,
        _ request: ProviderRequest,
        authentication: inout ProviderAuthentication,
        now: Timestamp
    ) throws(ProviderRejection) -> Topic {
        guard let bundleID = Topic(name) else { throw ProviderRejection(.badPath) }
        guard !request.fields.hasDuplicate else { throw ProviderRejection(.duplicateHeaders) }
        let directory = self.shared.directory
        let reason = authentication.authenticate(
            request.fields.authorization,
            directory: directory,
            rules: self.shared.rules,
            now: now
        )
        if let reason { throw ProviderRejection(reason) }
        let app = directory.app(bundleID)
        guard app != nil || bundleID.bundleID == bundleID else { throw ProviderRejection(.topicDisallowed) }
        guard authentication.covers(bundleID, directory: directory) else { throw ProviderRejection(.topicMismatch) }
        // Only a certificate can cover an app that is not registered.
        guard app?.allowsBroadcast ?? self.shared.rules.allowsBroadcastByDefault else {
            throw ProviderRejection(.featureNotEnabled)
        }
        if let id = request.fields.requestID ?? request.fields.id, !RequestIDGenerator.isID(id) {
            throw ProviderRejection(.badMessageId)
        }
        return bundleID
    }

    /// Returns the channel of the request.
    func channel(
        _ request: ProviderRequest,
        app bundleID: Topic
    ) throws(ProviderRejection) -> (id: String, policy: ChannelPolicy) {
        guard let id = request.fields.channelID, !id.isEmpty else { throw ProviderRejection(.missingChannelId) }
        guard id.utf8.count <= Self.maximumIDLength, Data(base64Encoded: id) != nil else {
            throw ProviderRejection(.badChannelId)
        }
        guard let policy = self.shared.channels.policy(of: id, app: bundleID, in: self.shared.environment) else {
            throw ProviderRejection(.channelNotRegistered)
        }
        return (id, policy)
    }

    /// Checks the push type, the only one of which Apple writes in three ways (reference 4.2).
    static func check(pushType: String?) throws(ProviderRejection) {
        guard let pushType, !pushType.isEmpty else { throw ProviderRejection(.missingPushType) }
        guard pushType.lowercased() == PushType.liveactivity.rawValue else { throw ProviderRejection(.invalidPushType) }
    }

    /// Returns the body as a JSON object of at most 5,120 bytes (reference 3.6).
    static func object(_ request: ProviderRequest) throws(ProviderRejection) -> [String: Any] {
        guard request.bodyLength > 0 else { throw ProviderRejection(.payloadEmpty) }
        guard request.bodyLength <= PushNotification.maximumBroadcastSize else {
            throw ProviderRejection(.payloadTooLarge)
        }
        guard let object = JSONBody.object(request.body) else { throw ProviderRejection(.badRequestPayload) }
        return object
    }
}
