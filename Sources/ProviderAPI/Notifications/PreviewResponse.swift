import Foundation
package import ProviderModel
package import PushHTTP
import PushProvider
import PushStore
package import PushSupport
package import PushTypes

/// The preview of a notification in a response: the push that one device would get.
package struct PreviewResponse: ResponseObject {
    private let request: NotificationRequest
    /// The current number of recipients; `nil` if it is not known.
    package let recipients: Int?
    private let result: Result<ContentPreview, RenderFailure>
    /// The numbers of recipients that would be skipped, by the reason; `nil` if they are not known.
    private let forecast: ConsentForecast?
    /// Indicates whether the preview has the number of recipients. The preview of a template has none.
    private let countsRecipients: Bool

    /// Creates the preview of a template.
    init(_ request: NotificationRequest, bundleID: Topic, for subject: PreviewSubject) {
        self.init(request, bundleID: bundleID, for: subject, countsRecipients: false, recipients: nil, forecast: nil)
    }

    /// Creates the preview of a notification.
    /// - Parameters:
    ///   - subject: The device to render for.
    ///   - recipients: The current number of recipients; `nil` if it is not known.
    ///   - forecast: The recipients that would be skipped; `nil` if they are not known.
    init(
        _ request: NotificationRequest,
        bundleID: Topic,
        for subject: PreviewSubject,
        countsRecipients: Bool = true,
        recipients: Int?,
        forecast: ConsentForecast?
    ) {
        self.countsRecipients = countsRecipients
        (self.request, self.recipients, self.forecast) = (request, recipients, forecast)
        guard !subject.isRegistered || subject.key != nil || request.content.placeholder == nil else {
            self.result = .failure(.noEncryptionKey)
            return
        }
        self.result = Result { () throws(RenderFailure) in
            try ContentPreview(
                request.content,
                bundleID: bundleID,
                for: subject.profile,
                badge: subject.badge,
                key: subject.key
            )
        }
    }

    private var skipped: [SkippedRecipients]? {
        self.forecast.map { forecast in
            SkipReason.allCases.compactMap { reason in
                let text = reason.text(category: self.request.consent.category)
                return forecast.counts[reason].map { SkippedRecipients(reason: text, count: $0) }
            }
        }
    }
    package var warnings: [ContentWarning] {
        guard self.countsRecipients, self.forecast == nil else { return self.request.warnings }
        let counted = self.recipients == nil ? "the recipients" : "the recipients that would be skipped"
        let message = "counting \(counted) takes too long now: the notification counts them"
        let field = self.recipients == nil ? "recipients" : "skipped"
        return self.request.warnings + [ContentWarning(field: field, message: message)]
    }
    package var encryptedPayload: JSONValue? { self.preview?.encrypted.flatMap { try? JSONValue(parsing: Data($0)) } }

    /// The push; `nil` if nothing could be sent to this device, see ``problem``.
    private var preview: ContentPreview? { try? self.result.get() }
    private var problem: String? { if case .failure(let error) = self.result { error.description } else { nil } }
    package var topic: Topic { self.request.content.topic }
    package var pushType: PushType { self.request.content.pushType }
    package var limit: Int { self.request.content.maximumPayloadSize }
    package var size: Int? { self.preview?.size }
    package var payload: JSONValue? { self.preview.flatMap { try? JSONValue(parsing: Data($0.payload)) } }

    package static let schemaName: String? = "Preview"
    package static let members: [ResponseMember<Self>] = [
        .optional("recipients", \.recipients, "The present number of recipients; absent if counting takes long."),
        .optional(
            "skipped",
            \.skipped,
            "Those of the recipients that would be skipped; absent if counting takes long."
        ),
        .required("topic", \.topic),
        .required("pushType", \.pushType.rawValue),
        .optional("payload", \.payload, "What the device sees."),
        .optional("encryptedPayload", \.encryptedPayload, "What Apple sees, if the content is encrypted."),
        .optional("size", \.size, "The size of what is sent, in bytes."),
        .required("limit", \.limit, "The largest payload of the push type, in bytes."),
        .optional("locale", \.preview?.locale, "The localization that the device gets; absent for the default."),
        .optional("problem", \.problem, "The reason for which nothing could be sent to this device."),
        .required(
            "receipts",
            \.request.content.receipts.word,
            as: .choice(ReceiptLevel.allCases.map(\.word)),
            "The payload names the notification in the member martlet, here with an id of zeros."
        ),
        .required("warnings", \.warnings),
    ]
}

/// The device that a preview is rendered for.
struct PreviewSubject {
    /// The profile of the device; `nil` to render the default variant.
    var profile: RecipientProfile?
    /// The badge count that the device would show.
    var badge: Int?
    var key: InstallationPublicKey?
    /// Indicates whether the device is registered, and not invented by the request.
    var isRegistered = false
}

/// The recipients that are skipped for one reason.
struct SkippedRecipients: ResponseObject {
    let reason: String
    let count: Int

    static let schemaName: String? = "SkippedRecipients"
    static let members: [ResponseMember<Self>] = [.required("reason", \.reason), .required("count", \.count)]
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
