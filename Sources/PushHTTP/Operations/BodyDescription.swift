package import PushSupport

package struct BodyDescription: Sendable {
    let schema: Schema
    /// The maximum length of a body, in bytes. A request with a longer one is rejected.
    let maximum: Int
    let contentTypes: [String]
    /// A Boolean value that indicates whether a body is required. If not, a missing body is equivalent to an empty
    /// object.
    let isRequired: Bool
    /// The minimum rate of a body that is read while it arrives, or `nil` for a body that is read as a whole before the
    /// deadline of the request.
    let stream: StreamedBody?

    /// The maximum length of a body for which no other maximum is given: 1 MiB.
    package static let defaultMaximum = 1024 * 1024

    package init(
        _ schema: Schema,
        maximum: Int = BodyDescription.defaultMaximum,
        contentTypes: [String] = ["application/json"],
        isRequired: Bool = true,
        stream: StreamedBody? = nil
    ) {
        (self.schema, self.maximum, self.contentTypes) = (schema, maximum, contentTypes)
        (self.isRequired, self.stream) = (isRequired, stream)
    }
}
