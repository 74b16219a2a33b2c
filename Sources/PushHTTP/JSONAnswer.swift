import Foundation
package import HTTPTypes
package import Hummingbird
import NIOCore
package import PushProtocol

/// Answers in JSON, members in alphabetical order.
package enum JSONAnswer {
    package static func make(
        _ status: HTTPResponse.Status,
        _ value: some Encodable,
        headers: HTTPFields = [:]
    ) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Self.make(status, try encoder.encode(value), headers: headers)
    }

    package static func refusal(_ refusal: APIRefusal, headers: HTTPFields = [:]) -> Response {
        var headers = headers
        if refusal.status == 401 { headers[.wwwAuthenticate] = "Bearer" }
        return Self.make(HTTPResponse.Status(code: refusal.status), refusal.body, headers: headers)
    }

    private static func make(_ status: HTTPResponse.Status, _ body: Data, headers: HTTPFields) -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }
}
