package import Foundation
package import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL
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
    /// The error for a client that closed the connection before its response.
    package static let clientGone = RequestError(
        .unavailable,
        code: "client_gone",
        message: "the connection was closed before the response"
    )

    /// Converts an error of a client's connection, such as a body that ends too early. Returns `nil` for other errors.
    package init?(ofHTTP error: any Error) {
        if let error = error as? HTTPParserError {
            self.init(.invalid, code: "malformed_request", message: "the body is not HTTP/1.1: \(error)")
        } else if Self.isOfLostConnection(error) {
            self = .clientGone
        } else {
            return nil
        }
    }

    /// Returns whether an error shows that the client's connection has ended: a reset, a truncated TLS session, a
    /// cancelled HTTP/2 stream, or the cancellation of the task because the client has disconnected.
    private static func isOfLostConnection(_ error: any Error) -> Bool {
        switch error {
        case is CancellationError, is NIOSSLError, is BoringSSLError, is any NIOHTTP2Error: true
        case ChannelError.eof, ChannelError.inputClosed, ChannelError.outputClosed, ChannelError.ioOnClosedChannel,
            ChannelError.alreadyClosed:
            true
        // File errors have other codes.
        case let error as IOError: [ECONNRESET, ECONNABORTED, EPIPE, ENOTCONN, ETIMEDOUT].contains(error.errnoCode)
        default: false
        }
    }

    /// The body of the response that reports this error: `{"error":{"code":…,"message":…,"field":…}}`.
    package var body: Data {
        (try? ["error": self].json.text)
            ?? Data(#"{"error":{"code":"internal","message":"the error could not be written"}}"#.utf8)
    }
}

extension RequestError: ResponseObject {
    package static let members: [ResponseMember<Self>] = [
        .required("code", \.code, "The name for programs: stable, in snake case."),
        .required("message", \.message, "The explanation for people."),
        .optional("field", \.path, "The member, query item or header at fault."),
    ]
}

extension RequestError {
    /// Returns the error for a body that is longer than `maximum` bytes.
    package static func bodyTooLarge(maximum: Int) -> RequestError {
        RequestError(.tooLarge, code: "body_too_large", message: "a body has at most \(maximum) bytes here")
    }

    /// Returns the error for a body with an unsupported media type. The message names the supported types, `known`.
    package static func unsupportedContentType(_ known: String) -> RequestError {
        RequestError(.unsupportedType, code: "unsupported_content_type", message: "send \(known)", path: "content-type")
    }
}
