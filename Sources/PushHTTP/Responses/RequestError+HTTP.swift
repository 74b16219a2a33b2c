package import Foundation
package import HTTPTypes
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
    /// The body of a response that reports this error: `{"error":{"code":…,"message":…,"field":…}}`.
    package var body: Data {
        (try? JSONEncoder.sorted.encode(["error": Content(self)]))
            ?? Data(#"{"error":{"code":"internal","message":"the error could not be written"}}"#.utf8)
    }

    /// The JSON object that reports an error.
    package struct Content: Encodable {
        let code: String
        let message: String
        /// The member, query item or header at fault.
        package var field: String?

        package init(_ error: RequestError) {
            (self.code, self.message, self.field) = (error.code, error.message, error.path)
        }

        package static let schema = Schema.object(
            required: [
                "code": .string().described("The name for programs: stable, in snake case."),
                "message": .string().described("The explanation for people."),
            ],
            optional: ["field": .string().described("The member, query item or header at fault.")]
        )
    }
}
