import Foundation
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The devices that a preview can be rendered for: registered ones, and invented ones.
struct PreviewSubjects {
    let store: any DeviceStore & UserStore

    /// The members of a request that name one.
    static let members: Set<String> = ["device", "user", "subject"]

    static let schemas: [(key: String, value: Schema)] = [
        ("device", .writtenToken.described("The token of a registered device to render for.")),
        ("user", .text.described("The user to render for, by the first registered device.")),
        (
            "subject",
            .object(optional: [
                "user": .text, "locale": .text, "timeZone": .text, "appVersion": .text,
                "attributes": .map(of: .attribute), "badge": .badgeCount,
            ]).described("An invented device to render for.")
        ),
    ]

    /// Returns the device that `device` or `user` names, or the one that `subject` describes.
    func subject(_ fields: JSONFields, _ app: AppRecord, _ push: NotificationContent) async throws -> PreviewSubject {
        let given = Self.members.filter { fields.members[$0] != nil }.sorted()
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
        if let text = try fields.string("device", maximum: DeviceToken.maximumLength * 4) {
            guard let token = DeviceToken(userInput: text) else {
                throw fields.error("device", "invalid_token", "a device token is hex or base64")
            }
            guard let device = try await self.store.devices(app: app.id, token: token).first else {
                throw fields.error("device", "no_such_device", "no device of this app has this token")
            }
            return device
        }
        guard let user = try fields.string("user", maximum: DeviceRequest.maximumText) else { return nil }
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
        let known: Set = ["user", "locale", "timeZone", "appVersion", "attributes", "badge"]
        guard let fields = try fields.fields("subject", known: known) else { return PreviewSubject() }
        let longest = DeviceRequest.maximumText
        let profile = RecipientProfile(
            user: try fields.string("user", maximum: longest),
            locale: try fields.string("locale", maximum: longest),
            timeZone: try fields.string("timeZone", maximum: longest),
            appVersion: try fields.string("appVersion", maximum: longest),
            attributes: try fields.object("attributes").map { try JSONValue.object($0).text }
        )
        let badge = try fields.integer("badge", in: 0...Int64(BadgeChange.maximumCount)).map(Int.init)
        return PreviewSubject(profile: profile, badge: badge)
    }
}
