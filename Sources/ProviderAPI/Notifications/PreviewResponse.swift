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
    /// `nil` if nothing could be sent to this device, see ``problem``.
    private let preview: ContentPreview?
    private let problem: String?

    /// - Parameters:
    ///   - profile: the device to render for; `nil` renders the default variant.
    ///   - badge: the count that the device would show.
    ///   - recipients: the present number of recipients.
    init(_ request: NotificationRequest, for profile: RecipientProfile?, badge: Int?, recipients: Int) {
        (self.request, self.recipients) = (request, recipients)
        do {
            (self.preview, self.problem) = (try ContentPreview(request.content, for: profile, badge: badge), nil)
        } catch {
            (self.preview, self.problem) = (nil, error.description)
        }
    }

    private var payload: JSONValue? { self.preview.flatMap { try? JSONValue(parsing: Data($0.payload)) } }

    static let schemaName: String? = "Preview"
    static let members: [ResponseMember<Self>] = [
        .required("recipients", \.recipients),
        .required("topic", \.request.content.topic),
        .required("pushType", \.request.content.pushType.rawValue),
        .optional("payload", \.payload),
        .optional("size", \.preview?.payload.count, "The size of the payload, in bytes."),
        .required(
            "limit",
            \.request.content.pushType.maximumPayloadSize,
            "The largest payload of the push type, in bytes."
        ),
        .optional("locale", \.preview?.locale, "The localization that the device gets; absent for the default."),
        .optional("problem", \.problem, "The reason for which nothing could be sent to this device."),
        .required("warnings", \.request.warnings),
    ]
}
