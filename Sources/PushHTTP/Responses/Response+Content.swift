package import Foundation
package import HTTPTypes
package import Hummingbird
package import NIOCore
package import PushSupport

extension JSONEncoder {
    /// An encoder for responses, with members in alphabetical order.
    package static var sorted: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

extension Response {
    /// Returns a response with a JSON body.
    package static func json(
        _ value: some Encodable,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) throws -> Response {
        .content(ByteBuffer(bytes: try JSONEncoder.sorted.encode(value)), "application/json", status, headers)
    }

    /// Returns a response that reports an error, with the status of its kind.
    ///
    /// - Parameter status: overrides that status, for an error that arose in HTTP itself.
    package static func error(
        _ error: RequestError,
        status: HTTPResponse.Status? = nil,
        headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        if error.kind == .unauthenticated { headers[.wwwAuthenticate] = "Bearer" }
        return .content(ByteBuffer(bytes: error.body), "application/json", status ?? error.kind.status, headers)
    }

    /// Returns a response with a body of a media type.
    package static func content(
        _ body: ByteBuffer,
        _ contentType: String,
        _ status: HTTPResponse.Status = .ok,
        _ headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        headers[.contentType] = contentType
        return Response(status: status, headers: headers, body: .init(byteBuffer: body))
    }

    package static var noContent: Response { Response(status: .noContent) }
}
