import PushHTTP
import PushStore
import PushTypes

/// An app in a response.
struct AppResponse: ResponseObject {
    let app: AppRecord
    /// The environments with a credential, in alphabetical order.
    let environments: [String]

    static let schemaName: String? = "App"
    static let members: [ResponseMember<Self>] = [
        .required("bundleId", \.app.bundleID),
        .optional("name", \.app.name),
        .optional("rate", \.app.rate, "Pushes per second of all its campaigns together."),
        .required("environments", \.environments, "The environments with a credential."),
        .required("createdAtMs", \.app.createdAt),
    ]
}
