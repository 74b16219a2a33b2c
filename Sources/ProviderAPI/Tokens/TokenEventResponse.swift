package import PushHTTP
package import PushStore
import PushTypes

extension TokenEventRecord.Action: JSONRepresentable {}

/// A token event in a response: a change to a token, with its reason.
package struct TokenEventResponse: ResponseObject {
    package let event: TokenEventRecord

    package static let schemaName: String? = "TokenEvent"
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.event.id),
        .required("action", \.event.action),
        .required("deviceId", \.event.device),
        .required("token", \.event.token.hex),
        .required("environment", \.event.environment),
        .optional("reason", \.event.reason),
        .optional("notification", \.event.notification),
        .required("atMs", \.event.at),
    ]
}
