import Foundation
import NIOCore
import PushTypes
import PushWire

/// Looks up the credentials and device tokens by which a push is checked.
protocol PushDirectory: TrustDirectory {
    func status(of token: DeviceToken) -> TokenStatus
}

/// Checks a push request. The first failed check decides the response.
///
/// The checks run in this order (reference 1.12): method, path, repeated fields, provider token or certificate, topic,
/// the fields `apns-id`, `apns-expiration`, `apns-priority`, `apns-push-type` and `apns-collapse-id`, push type against
/// topic, device token, payload, rate of the device.
struct PushRequestValidator: Sendable {
    let directory: any PushDirectory
    let rules: ProviderRules
    /// The limit of pushes for each device and topic, or `nil` for no limit.
    let limiter: DeviceRateLimiter?

    /// Returns the push if it passes all checks, and otherwise throws the rejection.
    /// - Parameters:
    ///   - path: The parsed path of `request`.
    ///   - apnsID: The id of the push: the request's own, or a new one.
    func validate(
        _ request: ProviderRequest,
        path: ProviderPath,
        authentication: inout ConnectionAuthentication,
        apnsID: String,
        now: Timestamp
    ) throws(ProviderRejection) -> AcceptedPush {
        let token = try self.token(request, path)
        let reason = authentication.authenticate(
            request.fields.authorization,
            directory: self.directory,
            rules: self.rules,
            now: now
        )
        if let reason { throw ProviderRejection(reason) }
        let grant: TopicGrant
        switch authentication.grant(request.fields.topic, directory: self.directory) {
        case .success(let granted): grant = granted
        case .failure(let reason): throw ProviderRejection(reason)
        }
        var notification = try self.notification(request, topic: grant.topic, apnsID: apnsID)
        try self.checkType(notification.pushType, grant, hasCertificate: authentication.hasCertificate)
        let (deviceToken, device) = try self.recipient(token, grant)
        try self.checkPayload(request, notification.pushType ?? grant.suffixType ?? .alert)
        if Self.onlyWakes(notification) {
            notification.priority = try self.wakePriority(request, notification.priority)
        }
        if let limiter, !limiter.admits(device: device, topic: grant.hash, now: now) {
            throw ProviderRejection(tooManyFor: device, topic: grant.topic, rule: limiter.rule)
        }
        return AcceptedPush(notification: notification, token: deviceToken, device: device, topicHash: grant.hash)
    }

    /// Checks method, path and repeated fields, and returns the device token, or `nil` for an invalid token, which a
    /// later check rejects.
    private func token(_ request: ProviderRequest, _ path: ProviderPath) throws(ProviderRejection) -> DeviceToken? {
        guard request.method == "POST" else { throw ProviderRejection(.methodNotAllowed) }
        let token: DeviceToken?
        switch path {
        case .device(let parsed): token = parsed
        case .missingDevice: throw ProviderRejection(.missingDeviceToken)
        default: throw ProviderRejection(.badPath)
        }
        guard !request.fields.hasDuplicate else { throw ProviderRejection(.duplicateHeaders) }
        return token
    }

    private func notification(
        _ request: ProviderRequest,
        topic: Topic,
        apnsID: String
    ) throws(ProviderRejection) -> PushNotification {
        let fields = request.fields
        if let id = fields.id, !RequestIDGenerator.isID(id) { throw ProviderRejection(.badMessageId) }
        var notification = PushNotification(id: apnsID, topic: topic, pushType: nil, payload: request.body)
        if let text = fields.expiration {
            guard let expiration = Expiration(header: text) else { throw ProviderRejection(.badExpirationDate) }
            notification.expiration = expiration
        }
        if let text = fields.priority {
            guard let priority = Priority(header: text) else { throw ProviderRejection(.badPriority) }
            notification.priority = priority
        }
        if let text = fields.pushType {
            guard let type = PushType(rawValue: text) else { throw ProviderRejection(.invalidPushType) }
            notification.pushType = type
            if type == .background { notification.priority = try self.wakePriority(request, notification.priority) }
        }
        if let collapseID = fields.collapseID {
            guard collapseID.utf8.count <= PushNotification.maximumCollapseIDLength else {
                throw ProviderRejection(.badCollapseId)
            }
            notification.collapseID = collapseID
        }
        return notification
    }

    /// Checks that push type, topic and credential are compatible (reference 1.6).
    private func checkType(_ type: PushType?, _ grant: TopicGrant, hasCertificate: Bool) throws(ProviderRejection) {
        if self.rules.requiresMatchingSuffix, let type, !Self.matches(type, grant) {
            throw ProviderRejection(.topicDisallowed)
        }
        if hasCertificate, let type = type ?? grant.suffixType, self.rules.tokenOnlyTypes.contains(type) {
            throw ProviderRejection(.topicDisallowed)
        }
    }

    private static func matches(_ type: PushType, _ grant: TopicGrant) -> Bool {
        let isManagement = grant.topic.name.hasPrefix("com.apple.mgmt.")
        switch type {
        case .mdm: return isManagement
        case .alert, .background: return grant.suffixType == nil && !isManagement
        default: return grant.suffixType == type
        }
    }

    /// Checks that the device token is active and belongs to the topic, and returns the token with its device.
    private func recipient(
        _ token: DeviceToken?,
        _ grant: TopicGrant
    ) throws(ProviderRejection) -> (token: DeviceToken, device: UUID) {
        guard let token else { throw ProviderRejection(.badDeviceToken) }
        switch self.directory.status(of: token) {
        case .unknown: throw ProviderRejection(.badDeviceToken)
        case .unregistered(let token): throw ProviderRejection(unregistered: token)
        case .active(let device, let topic):
            guard topic == grant.hash else { throw ProviderRejection(.deviceTokenNotForTopic) }
            return (token, device)
        }
    }

    private func checkPayload(_ request: ProviderRequest, _ type: PushType) throws(ProviderRejection) {
        guard request.bodyLength > 0 else { throw ProviderRejection(.payloadEmpty) }
        guard request.bodyLength <= type.maximumPayloadSize else { throw ProviderRejection(.payloadTooLarge) }
        guard !self.rules.requiresJSONObject || request.jsonObject != nil else {
            throw ProviderRejection(.badRequestPayload)
        }
    }

    /// Returns the priority of a push that only wakes the app, which is never immediate (reference 7.5). Under strict
    /// rules, such a push is rejected if it requests immediate delivery.
    private func wakePriority(_ request: ProviderRequest, _ priority: Priority) throws(ProviderRejection) -> Priority {
        guard priority == .immediate else { return priority }
        guard !self.rules.refusesImmediateBackground || request.fields.priority == nil else {
            throw ProviderRejection(.badPriority)
        }
        return .powerAware
    }

    /// Returns whether a push only wakes the app. In pushes of other types, `content-available` has no meaning.
    private static func onlyWakes(_ notification: PushNotification) -> Bool {
        switch notification.pushType {
        case nil, .alert: notification.priority == .immediate && WakePayload.isOnlyWake(notification.payload)
        default: false
        }
    }
}

extension ProviderRequest {
    /// The members of the body, if it is a JSON object, or `nil` for any other content.
    var jsonObject: [String: Any]? {
        try? JSONSerialization.jsonObject(with: Data(self.body.readableBytesView)) as? [String: Any]
    }
}
