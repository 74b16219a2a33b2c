package import Foundation
package import HTTPTypes
import NIOHTTP1
package import PushSupport

extension RequestError.Kind {
    /// The HTTP status of a response that reports an error of this kind.
    package var status: HTTPResponse.Status {
        switch self {
        case .invalid: .badRequest
        case .unauthenticated: .unauthorized
        case .forbidden: .forbidden
        case .notFound: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .timeout: .requestTimeout
        case .conflict: .conflict
        case .tooLarge: .contentTooLarge
        case .unsupportedType: .unsupportedMediaType
        case .rateLimited: .tooManyRequests
        case .internalError: .internalServerError
        case .unavailable: .serviceUnavailable
        }
    }
}

extension RequestError {
    /// Converts an error of a client's HTTP, such as a body that ends too early; `nil` for any other error.
    package init?(ofHTTP error: any Error) {
        guard let error = error as? HTTPParserError else { return nil }
        self.init(.invalid, code: "malformed_request", message: "the body is not HTTP/1.1: \(error)")
    }

    /// The body of a response that reports this error: `{"error":{"code":…,"message":…,"field":…}}`.
    package var body: Data {
        (try? ["error": self].json.text)
            ?? Data(#"{"error":{"code":"internal","message":"the error could not be written"}}"#.utf8)
    }
}

/// The JSON object that reports an error.
extension RequestError: ResponseObject {
    package static let members: [ResponseMember<Self>] = [
        .required("code", \.code, "The name for programs: stable, in snake case."),
        .required("message", \.message, "The explanation for people."),
        .optional("field", \.path, "The member, query item or header at fault."),
    ]
}
