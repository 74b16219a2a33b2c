import PushHTTP
import PushStore
import PushTypes

extension TokenEventRecord.Action: JSONRepresentable {}

/// A token event in a response: a change to a token, with its reason.
struct TokenEventResponse: ResponseObject {
    let event: TokenEventRecord

    static let schemaName: String? = "TokenEvent"
    static let members: [ResponseMember<Self>] = [
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
