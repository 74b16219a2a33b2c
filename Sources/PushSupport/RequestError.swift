/// An error that explains to the caller of an API why a request was rejected.
///
/// It does not depend on HTTP: `PushHTTP` maps the kind to a status.
package struct RequestError: Error, Hashable, Sendable {
    /// The class of a failure, which tells the caller how to handle it.
    package enum Kind: Sendable, CaseIterable {
        /// The failure of a request that is malformed or breaks a rule.
        case invalid
        /// The failure of a request whose credential is missing or unknown.
        case unauthenticated
        /// The failure of a request that its credential does not allow.
        case forbidden
        /// The failure of a request that names a resource that does not exist.
        case notFound
        /// The failure of a request whose path exists, but does not support the method.
        case methodNotAllowed
        /// The failure of a request that did not arrive completely in time.
        case timeout
        /// The failure of a request that the current state of the resource does not allow.
        case conflict
        /// The failure of a request whose body exceeds the size limit.
        case tooLarge
        /// The failure of a request whose body has an unsupported content type.
        case unsupportedType
        /// The failure of a request whose caller exceeded a rate limit.
        case rateLimited
        /// The failure of a request because of an error in the server.
        case internalError
        /// The failure of a request that the server cannot perform now, but that may succeed later.
        case unavailable
    }

    /// The class of the failure.
    package var kind: Kind
    /// The stable name of the failure, for programs: in snake case, such as `invalid_token`.
    package var code: String
    /// The explanation for the reader of the response, with the remedy. It contains no secret and no whole token.
    package var message: String
    /// The member of the body, the header or the query item that is invalid, such as `to.tokens[3]`, or `nil` for none.
    package var path: String?

    package init(_ kind: Kind, code: String, message: String, path: String? = nil) {
        (self.kind, self.code, self.message, self.path) = (kind, code, message, path)
    }
}

/// Errors that several modules report.
extension RequestError {
    /// Creates the error `invalid_value` for a value that is not allowed.
    package static func invalid(_ path: String, _ message: String) -> RequestError {
        RequestError(.invalid, code: "invalid_value", message: message, path: path)
    }

    /// Creates the error `no_such_THING` for an object that does not exist.
    /// - Parameters:
    ///   - identifier: The name of the property by which the caller identified the object.
    ///   - path: The parameter that contains the identifier, or `nil` if its name is `thing`.
    package static func noSuch(_ thing: String, by identifier: String = "id", at path: String? = nil) -> RequestError {
        let message = "there is no \(thing) with this \(identifier)"
        return RequestError(.notFound, code: "no_such_\(thing)", message: message, path: path ?? thing)
    }

    /// Creates the error of a request that the present state does not allow.
    package static func conflict(_ code: String, _ message: String, at path: String? = nil) -> RequestError {
        RequestError(.conflict, code: code, message: message, path: path)
    }

    /// Creates the error for the name of an environment that does not exist.
    package static func invalidEnvironment(_ kind: Kind = .invalid) -> RequestError {
        RequestError(kind, code: "invalid_environment", message: "use sandbox or production", path: "environment")
    }

    /// The error for a failure whose cause is logged and not sent to the caller.
    package static var internalFailure: RequestError {
        RequestError(.internalError, code: "internal", message: "the server failed; its log has the cause")
    }
}

/// An error of a request that may succeed if it is repeated after a delay.
package struct RetryLaterError: Error {
    package let error: RequestError
    /// The delay after which the request may succeed.
    package let delay: Duration

    package init(_ error: RequestError, after delay: Duration) { (self.error, self.delay) = (error, delay) }

    /// The value of the header field `retry-after` for ``delay``, in whole seconds.
    package var seconds: String { "\(max(1, self.delay.components.seconds + 1))" }
}
