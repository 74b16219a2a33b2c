/// An error that explains to the caller of an API why a request was not carried out.
///
/// It does not depend on HTTP: `PushHTTP` maps the kind to a status.
package struct RequestError: Error, Hashable, Sendable {
    /// A class of failures that a caller treats alike.
    package enum Kind: Sendable, CaseIterable {
        /// The request is malformed or breaks a rule.
        case invalid
        /// A credential is missing or unknown.
        case unauthenticated
        /// The credential does not allow the request.
        case forbidden
        /// The resource does not exist.
        case notFound
        /// The path exists, the method does not.
        case methodNotAllowed
        /// The request did not arrive in time.
        case timeout
        /// The state of the resource does not allow the request.
        case conflict
        /// The body exceeds its limit.
        case tooLarge
        /// The content type is not supported.
        case unsupportedType
        /// The caller exceeded a rate.
        case rateLimited
        /// The server failed.
        case internalError
        /// The server cannot carry out the request now.
        case unavailable
    }

    /// The class of the failure.
    package var kind: Kind
    /// The name of the failure for programs: stable, in snake case, such as `invalid_token`.
    package var code: String
    /// The explanation for people, with the remedy. It never holds a secret or a whole token.
    package var message: String
    /// The member of the body, the header or the query item at fault, such as `to.tokens[3]`.
    package var path: String?

    package init(_ kind: Kind, code: String, message: String, path: String? = nil) {
        (self.kind, self.code, self.message, self.path) = (kind, code, message, path)
    }
}

/// An error of a request that may succeed if it is repeated after a delay.
package struct RetryLaterError: Error {
    package let error: RequestError
    /// The delay after which the request may succeed.
    package let delay: Duration

    package init(_ error: RequestError, after delay: Duration) { (self.error, self.delay) = (error, delay) }

    /// The value of `retry-after`, in whole seconds.
    package var seconds: String { "\(max(1, self.delay.components.seconds + 1))" }
}
