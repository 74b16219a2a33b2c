import Foundation
import NIOCore
import PushSupport
import PushTypes
import PushWire

/// A push that passed every check, on its way to one device.
struct AcceptedPush: Hashable, Sendable {
    var notification: PushNotification
    var token: DeviceToken
    var device: UUID
    var topicHash: TopicHash
}

/// What the gateway knows, as far as the checks of a push ask for it.
protocol PushDirectory: TrustDirectory {
    func status(of token: DeviceToken) -> TokenStatus
}

/// What became of a device token.
enum TokenStatus: Hashable, Sendable {
    case active(device: UUID, topic: TopicHash)
    /// Not minted here, of the other environment, or of a device never seen.
    case unknown
    /// Once good; when that ended.
    case gone(device: UUID, topic: TopicHash, since: Timestamp)
}

/// Checks a push request in the order of reference 1.12. The first fault found is the answer.
struct PushRequestValidator: Sendable {
    let directory: any PushDirectory
    let rules: ProviderRules
    /// `nil` where there is no limit.
    let limiter: DeviceRateLimiter?

    /// - Parameters:
    ///   - path: of `request`, read before.
    ///   - apnsID: used where the request names none.
    func validate(
        _ request: ProviderRequest,
        path: ProviderPath,
        connection: inout ProviderConnection,
        apnsID: String,
        now: Timestamp
    ) throws(ProviderRejection) -> AcceptedPush {
        let token = try self.token(request, path)
        let fault = connection.authenticate(
            request.fields.authorization,
            directory: self.directory,
            rules: self.rules,
            now: now
        )
        if let fault { throw ProviderRejection(fault) }
        let grant: TopicGrant
        switch connection.grant(request.fields.topic, directory: self.directory) {
        case .success(let granted): grant = granted
        case .failure(let reason): throw ProviderRejection(reason)
        }
        var notification = try self.notification(request, topic: grant.topic, apnsID: apnsID)
        try self.checkType(notification.pushType, grant, hasCertificate: connection.hasCertificate)
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

    /// The outer form: method, path, repeated fields. `nil` for a token that is none, which is a later fault.
    private func token(_ request: ProviderRequest, _ path: ProviderPath) throws(ProviderRejection) -> DeviceToken? {
        guard request.method == "POST" else { throw ProviderRejection(.methodNotAllowed) }
        let token: DeviceToken?
        switch path {
        case .device(let named): token = named
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
        if let id = fields.id, !RequestIDs.isID(id) { throw ProviderRejection(.badMessageId) }
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

    /// Whether type, topic and credential go together (reference 1.6).
    private func checkType(_ type: PushType?, _ grant: TopicGrant, hasCertificate: Bool) throws(ProviderRejection) {
        if self.rules.requiresMatchingSuffix, let type, !Self.fits(type, grant) {
            throw ProviderRejection(.topicDisallowed)
        }
        if hasCertificate, let meant = type ?? grant.suffixType, self.rules.tokenOnlyTypes.contains(meant) {
            throw ProviderRejection(.topicDisallowed)
        }
    }

    private static func fits(_ type: PushType, _ grant: TopicGrant) -> Bool {
        let isManagement = grant.topic.name.hasPrefix("com.apple.mgmt.")
        switch type {
        case .mdm: return isManagement
        case .alert, .background: return grant.suffixType == nil && !isManagement
        default: return grant.suffixType == type
        }
    }

    private func recipient(
        _ token: DeviceToken?,
        _ grant: TopicGrant
    ) throws(ProviderRejection) -> (token: DeviceToken, device: UUID) {
        guard let token else { throw ProviderRejection(.badDeviceToken) }
        switch self.directory.status(of: token) {
        case .unknown:
            throw ProviderRejection(.badDeviceToken)
        case .gone(let device, let topic, let since):
            throw ProviderRejection(unregistered: token, device: device, topic: topic, since: since)
        case .active(let device, let topic):
            guard topic == grant.hash else { throw ProviderRejection(.deviceTokenNotForTopic) }
            return (token, device)
        }
    }

    private func checkPayload(_ request: ProviderRequest, _ type: PushType) throws(ProviderRejection) {
        guard request.bodyLength > 0 else { throw ProviderRejection(.payloadEmpty) }
        guard request.bodyLength <= type.maximumPayloadSize else { throw ProviderRejection(.payloadTooLarge) }
        guard !self.rules.requiresJSONObject || JSONText.object(request.body) != nil else {
            throw ProviderRejection(.badRequestPayload)
        }
    }

    /// A push that only wakes the app is never immediate (reference 7.5); asking for it is an error or it is not.
    private func wakePriority(
        _ request: ProviderRequest,
        _ priority: Priority
    ) throws(ProviderRejection) -> Priority {
        guard priority == .immediate else { return priority }
        guard !self.rules.refusesImmediateBackground || request.fields.priority == nil else {
            throw ProviderRejection(.badPriority)
        }
        return .powerAware
    }

    /// Of other types than these, `content-available` means nothing.
    private static func onlyWakes(_ notification: PushNotification) -> Bool {
        switch notification.pushType {
        case nil, .alert: notification.priority == .immediate && WakePayload.isOnlyWake(notification.payload)
        default: false
        }
    }
}
