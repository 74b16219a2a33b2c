import Foundation
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// Finds the device that a preview is rendered for: a registered one, or one that the request describes.
struct PreviewSubjectResolver {
    let store: any DeviceStore & UserStore

    private enum Members {
        private static let lengths = 1...DeviceRequest.maximumText

        static let device = Member.text("device", maximum: DeviceToken.maximumLength * 4, as: .writtenToken)
            .described("The token of a registered device to render for.")
            .parsed("invalid_token", "a device token is hex or base64") { DeviceToken(userInput: $0) }
        static let user = Member.text("user", Self.lengths)
        static let locale = Member.text("locale", Self.lengths)
        static let timeZone = Member.text("timeZone", Self.lengths)
        static let appVersion = Member.text("appVersion", Self.lengths)
        static let attributes = Member.openObject("attributes", as: .map(of: .attribute))
        static let badge = Member.integer("badge", BadgeChange.counts)
        static let subject = Member.object(
            "subject",
            RequestObject(
                optional: [Self.user, Self.locale, Self.timeZone, Self.appVersion, Self.attributes, Self.badge]
            )
        ).described("An invented device to render for.")
    }

    /// The members of a request that name one.
    static let members: [any ObjectMember] = [
        Members.device, Members.user.described("The user to render for, by the first registered device."),
        Members.subject,
    ]

    /// Returns the device that `device` or `user` names, or the one that `subject` describes.
    func subject(_ fields: JSONFields, _ app: AppRecord, _ push: NotificationContent) async throws -> PreviewSubject {
        let given = Self.members.map { $0.name }.filter { fields.members[$0] != nil }.sorted()
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
        if let token = try fields.value(Members.device) {
            guard let device = try await self.store.devices(app: app.id, token: token).first else {
                throw fields.error("device", "no_such_device", "no device of this app has this token")
            }
            return device
        }
        guard let user = try fields.value(Members.user) else { return nil }
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

    /// Returns the profile of the member `subject`, an invented device.
    private static func invented(_ fields: JSONFields) throws -> PreviewSubject {
        guard let fields = try fields.value(Members.subject) else { return PreviewSubject() }
        let profile = RecipientProfile(
            user: try fields.value(Members.user),
            locale: try fields.value(Members.locale),
            timeZone: try fields.value(Members.timeZone),
            appVersion: try fields.value(Members.appVersion),
            attributes: try fields.value(Members.attributes).map { try JSONValue.object($0).text }
        )
        let badge = try fields.value(Members.badge).map(Int.init)
        return PreviewSubject(profile: profile, badge: badge)
    }
}
