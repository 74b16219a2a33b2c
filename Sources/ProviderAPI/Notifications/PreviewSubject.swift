import ProviderModel
import PushProvider
import PushStore
import PushSupport

/// The device that a preview is rendered for.
struct PreviewSubject {
    /// The profile; `nil` renders the default variant.
    var profile: RecipientProfile?
    /// The badge count that the device would show.
    var badge: Int?
    var key: InstallationPublicKey?
    /// Indicates whether it is a registered device, and not an invented one.
    var isRegistered = false
}

/// Finds the device that a preview is rendered for: a registered one, or one that the request describes.
struct PreviewSubjectResolver {
    let store: any DeviceStore & UserStore

    /// Returns the device that `device` or `user` names, or the one that `subject` describes.
    func subject(_ fields: JSONFields, _ app: AppRecord, _ push: NotificationContent) async throws -> PreviewSubject {
        let given = PreviewRequest.subjects.map { $0.name }.filter { fields.members[$0] != nil }.sorted()
        if given.count > 1 {
            throw fields.error(given[1], "conflicting_field", "name one device or user, or invent one")
        }
        guard let device = try await self.registered(fields, app, push) else { return try Self.invented(fields) }
        var count = 0
        if let user = device.profile.user {
            count = try await self.store.badge(app: app.id, holder: BadgeOwner.user(user))
        }
        return PreviewSubject(
            profile: try RecipientProfile(device.profile),
            badge: (try? ContentRenderer(push))?.badge?.applied(to: count),
            key: device.profile.encryptionKey,
            isRegistered: true
        )
    }

    /// Returns the registered device that the request names; `nil` if it names none.
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

    /// Returns the invented device that the member `subject` describes.
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
