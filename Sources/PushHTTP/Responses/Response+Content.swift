package import HTTPTypes
package import Hummingbird
package import NIOCore
package import PushSupport
import Synchronization

extension Response {
    /// Returns a response with a JSON body, whose members are sorted alphabetically.
    package static func json(
        _ value: some JSONRepresentable,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) throws -> Response {
        let json = value.json
        ResponseValue.current?.set(value, json)
        return .content(ByteBuffer(bytes: try json.text), "application/json", status, headers)
    }

    /// Returns a response with a list, or with one page of a list: `{"NAME":[…],"next":"…"}`.
    /// - Parameters:
    ///   - next: The cursor of the next page, or `nil` on the last page and for a list without pages.
    ///   - further: Additional members of the object.
    package static func page<Entry: JSONRepresentable>(
        _ name: String,
        _ entries: [Entry],
        next: String? = nil,
        further: [String: JSONValue] = [:]
    ) throws -> Response {
        var members = further
        members[name] = entries.json
        members["next"] = next.map { .string($0) }
        let response = try Response.json(members)
        ResponseValue.current?.set(ResponsePage(entries: entries, next: next), .object(members))
        return response
    }

    /// Returns a response that reports an error, with the status for the error's kind.
    /// - Parameter status: The status of an error at the HTTP level, or `nil` for the status of the error's kind.
    package static func error(
        _ error: RequestError,
        status: HTTPResponse.Status? = nil,
        headers: HTTPFields = [:]
    ) -> Response {
        ResponseValue.current?.set(error, .null)
        var headers = headers
        if error.kind == .unauthenticated { headers[.wwwAuthenticate] = "Bearer" }
        return .content(ByteBuffer(bytes: error.body), "application/json", status ?? error.kind.status, headers)
    }

    /// Returns a response with a body of the given media type. A long body is written in pieces
    /// (``ResponseBody/pieces(of:)``).
    package static func content(
        _ body: ByteBuffer,
        _ contentType: String,
        _ status: HTTPResponse.Status = .ok,
        _ headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        headers[.contentType] = contentType
        return Response(status: status, headers: headers, body: .pieces(of: body))
    }

    package static var noContent: Response { Response(status: .noContent) }
}

extension Response {
    /// The length in bytes of a body that is longer than `Budget.uncountedBodyLength`, so that it is charged to a
    /// budget, or `nil` for a shorter body or a stream of unknown length.
    package var longBody: Int? { self.body.contentLength.flatMap { $0 > Budget.uncountedBodyLength ? $0 : nil } }

    /// Returns the response with a permit attached. Its body retains the permit until the connection has taken all
    /// bytes, or until the body is discarded.
    /// - Parameter channel: The channel of the connection to which the response is written.
    package func holding(_ permit: BudgetPermit, on channel: any Channel) -> Response {
        let body = self.body
        var response = self
        response.body = ResponseBody(contentLength: body.contentLength) { writer in
            defer { permit.end() }
            let paced = body.map { piece in
                try await channel.untilWrittenPartsAreTaken()
                return piece
            }
            try await paced.write(writer)
            try await channel.untilWrittenPartsAreTaken()
        }
        return response
    }
}

extension ResponseBody {
    private static let pieceLength = Budget.uncountedBodyLength

    /// Creates a body that is written in pieces if it is long. Each piece is written once the connection has taken the
    /// previous one.
    package static func pieces(of whole: ByteBuffer) -> ResponseBody {
        guard whole.readableBytes > Self.pieceLength else { return ResponseBody(byteBuffer: whole) }
        return ResponseBody(contentLength: whole.readableBytes) { writer in
            var rest = whole
            while let piece = rest.readSlice(length: min(Self.pieceLength, rest.readableBytes)),
                piece.readableBytes > 0
            {
                // The piece is copied, because a slice would retain the whole body until the connection has taken it.
                try await writer.write(ByteBuffer(bytes: piece.readableBytesView))
            }
            try await writer.finish(nil)
        }
    }
}

/// The value of the response to a request that is performed within the process.
///
/// The request is handled like any other, with its checks, limits and audit log entries, and its response is encoded.
/// The caller takes the value from here instead of parsing JSON.
package final class ResponseValue: Sendable {
    private struct Content: Sendable {
        let value: any Sendable
        let json: JSONValue
    }

    /// The response value for the current request, or `nil` for a request that arrives on a connection.
    @TaskLocal package static var current: ResponseValue?

    private let content = Mutex<Content?>(nil)

    package init() {}

    /// The JSON form of the response, or `null` for a response without a body or an error.
    package var json: JSONValue { self.content.withLock { $0?.json } ?? .null }

    /// Returns the response's value, or `nil` if it has another type. It is the value given to `Response.json`, a
    /// ``ResponsePage`` or an error.
    package func value<Value>(as type: Value.Type) -> Value? {
        let value = self.content.withLock { $0?.value }
        return value as? Value
    }

    func set(_ value: any Sendable, _ json: JSONValue) {
        self.content.withLock { $0 = Content(value: value, json: json) }
    }
}

/// The value of a response with a list, or with one page of a list.
package struct ResponsePage<Entry: Sendable>: Sendable {
    package let entries: [Entry]
    /// The cursor of the next page, or `nil` on the last page and for a list without pages.
    package let next: String?
}
