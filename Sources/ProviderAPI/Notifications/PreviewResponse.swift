import Foundation
package import ProviderModel
package import PushHTTP
import PushProvider
package import PushSupport
package import PushTypes

/// The response body for a preview: the push that one device would receive.
package struct PreviewResponse: ResponseObject {
    private let request: NotificationRequest
    /// The current number of recipients, or `nil` if it was not requested or counting takes too long.
    package let recipients: Int?
    private let result: Result<ContentPreview, RenderFailure>
    /// The numbers of recipients that would be skipped, by reason, or `nil` if they were not requested or counting
    /// takes too long.
    private let forecast: ConsentForecast?
    /// A Boolean value that indicates whether the preview includes the number of recipients. It is `false` for a
    /// template, which has no recipients.
    private let countsRecipients: Bool

    init(_ request: NotificationRequest, bundleID: Topic, for subject: PreviewSubject) {
        self.init(request, bundleID: bundleID, for: subject, countsRecipients: false, recipients: nil, forecast: nil)
    }

    /// Creates the preview of a notification.
    /// - Parameters:
    ///   - subject: The device for which the notification is rendered.
    ///   - countsRecipients: Pass `true` to include the number of recipients.
    ///   - recipients: The current number of recipients, or `nil` if it is not known.
    ///   - forecast: The numbers of recipients that would be skipped, by reason, or `nil` if they are not known.
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

    /// The rendered push, or `nil` if nothing could be sent to this device, as ``problem`` explains.
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

/// The response object for the number of recipients that are skipped for one reason.
struct SkippedRecipients: ResponseObject {
    let reason: String
    let count: Int

    static let schemaName: String? = "SkippedRecipients"
    static let members: [ResponseMember<Self>] = [.required("reason", \.reason), .required("count", \.count)]
}
