import PushHTTP

/// The answer to a request after which something is not sent any more (docs/decisions/0051).
struct StopResponse: ResponseObject {
    let underWay: Int

    static let schemaName: String? = "Stop"
    static let members: [ResponseMember<Self>] = [
        .required("underWay", \.underWay, "The pushes that could not be taken back: the last ones.")
    ]
}
