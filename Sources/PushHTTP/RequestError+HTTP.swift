package import Foundation
package import HTTPTypes
package import PushSupport

extension RequestError.Kind {
    /// The HTTP status of a response that reports a failure of this kind.
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
    /// The body of a response that reports this failure: `{"error":{"code":…,"message":…,"field":…}}`.
    package var body: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(["error": Content(code: self.code, message: self.message, field: self.path)]))
            ?? Data(#"{"error":{"code":"internal","message":"the error could not be written"}}"#.utf8)
    }

    private struct Content: Encodable {
        var code: String
        var message: String
        var field: String?
    }
}
