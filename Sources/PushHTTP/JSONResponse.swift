import Foundation
package import HTTPTypes
package import Hummingbird
import NIOCore
package import PushSupport

/// Answers in JSON, members in alphabetical order.
package enum JSONResponse {
    package static func make(
        _ status: HTTPResponse.Status,
        _ value: some Encodable,
        headers: HTTPFields = [:]
    ) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Self.make(status, try encoder.encode(value), headers: headers)
    }

    package static func refusal(
        _ refusal: RequestError,
        status: HTTPResponse.Status? = nil,
        headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        if refusal.kind == .unauthenticated { headers[.wwwAuthenticate] = "Bearer" }
        return Self.make(status ?? refusal.kind.status, refusal.body, headers: headers)
    }

    private static func make(_ status: HTTPResponse.Status, _ body: Data, headers: HTTPFields) -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }
}
