package import PushSupport

/// The errors that both APIs report.
extension RequestError {
    /// A value that is not allowed: `invalid_value`.
    package static func invalid(_ path: String, _ message: String) -> RequestError {
        RequestError(.invalid, code: "invalid_value", message: message, path: path)
    }

    /// An object that does not exist: `no_such_THING`.
    ///
    /// - Parameters:
    ///   - identifier: The name of what the caller identified it by.
    ///   - path: The parameter that holds the identifier; default `thing`.
    package static func noSuch(_ thing: String, by identifier: String = "id", at path: String? = nil) -> RequestError {
        let message = "there is no \(thing) with this \(identifier)"
        return RequestError(.notFound, code: "no_such_\(thing)", message: message, path: path ?? thing)
    }

    /// A request that the present state does not allow.
    package static func conflict(_ code: String, _ message: String, at path: String? = nil) -> RequestError {
        RequestError(.conflict, code: code, message: message, path: path)
    }

    /// The name of an environment that does not exist.
    package static func invalidEnvironment(_ kind: Kind = .invalid) -> RequestError {
        RequestError(kind, code: "invalid_environment", message: "use sandbox or production", path: "environment")
    }

    /// A body that exceeds its limit.
    ///
    /// - Parameter maximum: In bytes.
    package static func bodyTooLarge(maximum: Int) -> RequestError {
        RequestError(.tooLarge, code: "body_too_large", message: "a body has at most \(maximum) bytes here")
    }

    /// A media type that is not understood.
    ///
    /// - Parameter known: The types to send instead.
    package static func unsupportedContentType(_ known: String) -> RequestError {
        RequestError(.unsupportedType, code: "unsupported_content_type", message: "send \(known)", path: "content-type")
    }

    /// A failure whose cause is in the log, and not for the caller.
    package static var internalFailure: RequestError {
        RequestError(.internalError, code: "internal", message: "the server failed; its log has the cause")
    }
}
