import ProviderModel
import PushProvider
import PushStore
import PushSupport

/// The device for which a preview is rendered.
struct PreviewSubject {
    /// The profile of the device, or `nil` for one that receives the default variant.
    var profile: RecipientProfile?
    /// The badge count that the device would show, or `nil` if the push sets none or the count is not known.
    var badge: Int?
    var key: InstallationPublicKey?
    /// A Boolean value that indicates whether the device is registered. Otherwise, the request describes it.
    var isRegistered = false
}

/// Determines the device for which a preview is rendered: a registered one, or one that the request describes.
struct PreviewSubjectResolver {
    let store: any DeviceStore & UserStore

    /// Returns the device that the member `device` or `user` names, or the one that the member `subject` describes. If
    /// the request contains none of them, the device has no profile.
    /// - Throws: ``RequestError`` if the request contains several of them, or if no device of the app matches.
    func subject(_ fields: JSONFields, _ app: AppRecord, _ push: NotificationContent) async throws -> PreviewSubject {
        let given = PreviewRequest.subjects.map { $0.name }.filter { fields.members[$0] != nil }.sorted()
        if given.count > 1 {
            throw fields.error(given[1], "conflicting_field", "name one device or user, or invent one")
        }
        guard let device = try await self.registered(fields, app, push) else { return try Self.invented(fields) }
        var count = 0
        if let user = device.profile.user {
            count = try await self.store.badge(app: app.id, holder: BadgeHolder.user(user))
        }
        return PreviewSubject(
            profile: try RecipientProfile(device.profile),
            badge: (try? ContentRenderer(push))?.badge?.applied(to: count),
            key: device.profile.encryptionKey,
            isRegistered: true
        )
    }

    /// Returns the registered device that the request names by its token or its user, or `nil` if it names none.
    /// - Throws: ``RequestError`` if no such device is registered.
    private func registered(
        _ fields: JSONFields,
        _ app: AppRecord,
        _ push: NotificationContent
    ) async throws -> DeviceRecord? {
        if let token = try fields.value(PreviewRequest.device) {
            guard let device = try await self.store.devices(app: app.id, token: token).first else {
                throw fields.error("device", "no_such_device", "no device of this app has this token")
            }
            return device
        }
        guard let user = try fields.value(PreviewRequest.user) else { return nil }
        let devices = try await self.store.devices(
            app: app.id,
            audience: .user(user),
            environment: nil,
            kind: push.tokenKind,
            after: 0,
            limit: 50
        )
        guard let device = devices.first(where: \.isActive) ?? devices.first else {
            throw fields.error("user", "no_such_device", "the user has no device with a token of the push type's kind")
        }
        return device
    }

    private static func invented(_ fields: JSONFields) throws -> PreviewSubject {
        guard let fields = try fields.value(PreviewRequest.subject) else { return PreviewSubject() }
        let profile = RecipientProfile(
            user: try fields.value(PreviewRequest.user),
            locale: try fields.value(PreviewRequest.locale),
            timeZone: try fields.value(PreviewRequest.timeZone),
            appVersion: try fields.value(PreviewRequest.appVersion),
            attributes: try fields.value(PreviewRequest.attributes).map { try JSONValue.object($0).text }
        )
        let badge = try fields.value(PreviewRequest.badge).map(Int.init)
        return PreviewSubject(profile: profile, badge: badge)
    }
}
