import Foundation
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The push that one device would get.
struct PreviewResponse: ResponseObject {
    private let request: NotificationRequest
    /// The present number of recipients.
    private let recipients: Int
    private let result: Result<ContentPreview, RenderFailure>

    /// - Parameters:
    ///   - profile: The device to render for; `nil` renders the default variant.
    ///   - badge: The count that the device would show.
    ///   - recipients: The present number of recipients.
    init(_ request: NotificationRequest, for profile: RecipientProfile?, badge: Int?, recipients: Int) {
        (self.request, self.recipients) = (request, recipients)
        self.result = Result { () throws(RenderFailure) in
            try ContentPreview(request.content, for: profile, badge: badge)
        }
    }

    /// The push; `nil` if nothing could be sent to this device, see ``problem``.
    private var preview: ContentPreview? { try? self.result.get() }
    private var problem: String? { if case .failure(let error) = self.result { error.description } else { nil } }
    private var pushType: PushType { self.request.content.pushType }
    private var payload: JSONValue? { self.preview.flatMap { try? JSONValue(parsing: Data($0.payload)) } }

    static let schemaName: String? = "Preview"
    static let members: [ResponseMember<Self>] = [
        .required("recipients", \.recipients),
        .required("topic", \.request.content.topic),
        .required("pushType", \.pushType.rawValue),
        .optional("payload", \.payload),
        .optional("size", \.preview?.payload.count, "The size of the payload, in bytes."),
        .required("limit", \.pushType.maximumPayloadSize, "The largest payload of the push type, in bytes."),
        .optional("locale", \.preview?.locale, "The localization that the device gets; absent for the default."),
        .optional("problem", \.problem, "The reason for which nothing could be sent to this device."),
        .required(
            "receipts",
            \.request.content.receipts.word,
            as: .choice(ReceiptPrivacy.allCases.map(\.word)),
            "The payload names the notification in the member martlet, here with an id of zeros."
        ),
        .required("warnings", \.request.warnings),
    ]
}
