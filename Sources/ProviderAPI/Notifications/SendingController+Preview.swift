import Foundation
import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

extension SendingController {
    /// Renders the notification without sending it. Its recipients are counted as they are now.
    func preview(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(NotificationRequest.members.union(["device", "subject"]))
        var wanted = try NotificationRequest(
            fields,
            bundleID: app.bundleID,
            now: self.time.now,
            receipts: app.receipts
        )
        let subject = try await self.subject(fields, app, wanted.content)
        let recipients = try await self.recipients(wanted, app)
        if recipients == 0,
            let missing = try await ContentWarning.missingTokens(for: wanted, app: app.id, in: self.store)
        {
            wanted.warnings.append(missing)
        }
        let response = PreviewResponse(
            wanted,
            bundleID: app.bundleID,
            for: subject,
            recipients: recipients,
            // Those that are skipped are found in the same way.
            forecast: recipients == nil ? nil : try await self.consentForecast(wanted, app)
        )
        return try .json(response)
    }

    /// Returns the present number of recipients; `nil` if counting them takes too long.
    private func recipients(_ wanted: NotificationRequest, _ app: AppRecord) async throws -> Int? {
        switch wanted.audience {
        case .tokens(let tokens): return tokens.count
        case .devices(let audience):
            do {
                return try await self.store.count(
                    app: app.id,
                    audience: audience,
                    environment: wanted.environment,
                    kind: wanted.content.tokenKind
                )
            } catch StoreError.queryTooExpensive, StoreError.tooManyQueries {
                return nil
            }
        }
    }

    /// Returns the numbers of recipients that would be skipped when the notification is sent, as devices and users are now;
    /// `nil` if counting them takes too long.
    private func consentForecast(_ wanted: NotificationRequest, _ app: AppRecord) async throws -> ConsentForecast? {
        let groups: [ConsentGroup]?
        do {
            groups = try await self.store.consentGroups(
                app: app,
                audience: wanted.audience,
                environment: wanted.environment,
                content: wanted.content,
                rules: wanted.consent,
                now: self.time.steady
            )
        } catch StoreError.queryTooExpensive, StoreError.tooManyQueries {
            return nil
        }
        guard let groups else { return nil }
        let now = self.time.now
        return ConsentForecast(groups) { zone in
            wanted.delivery.map { $0.start(for: zone, acceptedAt: now) } ?? now
        }
    }

    /// Returns the device that `device` names, or the one that `subject` describes.
    private func subject(_ fields: JSONFields, _ app: AppRecord, _ push: NotificationContent) async throws
        -> PreviewSubject
    {
        guard let text = try fields.string("device", maximum: DeviceToken.maximumLength * 4) else {
            return try Self.subject(fields)
        }
        guard fields.members["subject"] == nil else {
            throw fields.error("subject", "conflicting_field", "name a device or invent one, not both")
        }
        guard let token = DeviceToken(userInput: text) else {
            throw fields.error("device", "invalid_token", "a device token is hex or base64")
        }
        guard let device = try await self.store.devices(app: app.id, token: token).first else {
            throw fields.error("device", "no_such_device", "no device of this app has this token")
        }
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

    /// Returns the profile of the member `subject`, an invented device.
    private static func subject(_ fields: JSONFields) throws -> PreviewSubject {
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
