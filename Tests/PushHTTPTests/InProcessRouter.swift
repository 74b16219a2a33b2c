import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import PushHTTP
import PushSupport
import PushTesting

/// A router that responds in process, with a channel that carries no bytes.
struct InProcessRouter {
    let router = Router(context: APIContext.self)
    let channel = NIOAsyncTestingChannel()

    struct Result {
        var status: Int
        var headers: HTTPFields
        var json: JSONValue
    }

    init(logger: Logger = silentLogger) {
        self.router.add(middleware: ErrorMiddleware(logger: logger))
    }

    /// Adds operations without scopes.
    func add(_ operations: [APIOperation<Never>], query policy: APIOperation<Never>.QueryPolicy = .strict) {
        self.router.add(operations) { try await $0.respond(to: $1, $2, query: policy) }
    }

    func respond(_ method: HTTPRequest.Method, _ path: String, body: String = "") async throws -> Result {
        let request = Request(
            head: HTTPRequest(method: method, scheme: nil, authority: "localhost", path: path),
            body: RequestBody(buffer: ByteBuffer(string: body))
        )
        let context = APIContext(source: ApplicationRequestContextSource(channel: self.channel, logger: silentLogger))
        let response = try await self.router.buildResponder().respond(to: request, context: context)
        let written = ResponseBytes()
        try await response.body.write(written)
        let json = try? JSONValue(parsing: Data(written.bytes.buffer.readableBytesView))
        return Result(status: response.status.code, headers: response.headers, json: json ?? .null)
    }
}

/// The bytes of a response.
private struct ResponseBytes: ResponseBodyWriter {
    final class Storage {
        var buffer = ByteBuffer()
    }

    let bytes = Storage()

    mutating func write(_ buffer: ByteBuffer) async throws {
        self.bytes.buffer.writeImmutableBuffer(buffer)
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
