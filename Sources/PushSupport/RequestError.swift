package import Foundation

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

extension RequestError {
    /// Decodes a request body.
    ///
    /// - Throws: ``RequestError`` that names the member at fault.
    package static func decode<Body: Decodable>(_ type: Body.Type, from body: Data) throws(RequestError) -> Body {
        try JSONNesting.check(body)
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch let error as DecodingError {
            throw RequestError(error)
        } catch let error as RequestError {
            throw error
        } catch {
            throw .invalidJSON
        }
    }

    private static var invalidJSON: RequestError {
        RequestError(.invalid, code: "invalid_json", message: "the body is not valid JSON")
    }

    private init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            let path = Self.path(context.codingPath + [key])
            self.init(.invalid, code: "missing_field", message: "this member is required", path: path)
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            let path = Self.path(context.codingPath)
            self.init(.invalid, code: "wrong_type", message: context.debugDescription, path: path)
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            let path = Self.path(context.codingPath)
            self.init(.invalid, code: "invalid_value", message: context.debugDescription, path: path)
        default:
            self = .invalidJSON
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String? {
        guard !keys.isEmpty else { return nil }
        return keys.reduce("") { path, key in
            if let index = key.intValue { return "\(path)[\(index)]" }
            return path.isEmpty ? key.stringValue : "\(path).\(key.stringValue)"
        }
    }
}
