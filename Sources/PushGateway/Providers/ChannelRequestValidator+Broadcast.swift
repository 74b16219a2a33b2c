import PushTypes
import PushWire

extension ChannelRequestValidator {
    /// Checks a broadcast, `POST /4/broadcasts/apps/{bundle id}` (reference 4.2, 4.3).
    func broadcast(
        _ request: ProviderRequest,
        _ bundleID: Topic,
        _ requestID: String
    ) throws(ProviderRejection) -> AcceptedBroadcast {
        let channel = try self.channel(request, app: bundleID)
        let expiration = try Self.expiration(request.fields.expiration, channel.policy)
        let priority = try Self.priority(request.fields.priority)
        try Self.check(pushType: request.fields.pushType)
        try self.checkPayload(request)
        let name = ChannelName(bundleID: bundleID, id: channel.id)
        let notification = PushNotification(
            id: requestID,
            topic: name.topic,
            pushType: .liveactivity,
            priority: priority,
            expiration: expiration,
            payload: request.body
        )
        return AcceptedBroadcast(channel: name, policy: channel.policy, notification: notification)
    }

    /// Returns the expiration. A channel that stores nothing allows 0 only (reference 4.2); the default depends on the
    /// policy (row 12.9).
    private static func expiration(_ text: String?, _ policy: ChannelPolicy) throws(ProviderRejection) -> Expiration {
        guard let text else { return policy == .nothing ? .immediate : .servicePolicy }
        guard let expiration = Expiration(header: text), policy == .newest || expiration == .immediate else {
            throw ProviderRejection(.badExpirationDate)
        }
        return expiration
    }

    private static func priority(_ text: String?) throws(ProviderRejection) -> Priority {
        guard let text else { return .immediate }
        guard let priority = Priority(header: text) else { throw ProviderRejection(.badPriority) }
        return priority
    }

    /// Checks the payload: a broadcast cannot start an activity (reference 3.4).
    private func checkPayload(_ request: ProviderRequest) throws(ProviderRejection) {
        let object = try Self.object(request)
        guard self.shared.rules.requiresJSONObject else { return }
        let event = (object["aps"] as? [String: Any])?["event"] as? String
        guard event == "update" || event == "end" else { throw ProviderRejection(.badRequestPayload) }
    }
}
