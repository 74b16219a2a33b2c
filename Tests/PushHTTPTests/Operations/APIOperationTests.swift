import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOEmbedded
import PushHTTP
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

/// Requests to operations: query, path, body and stream.
@Suite struct APIOperationTests {
    private enum Colour: String, CaseIterable {
        case red, green
    }

    private static let echo = APIOperation<Never>(.get, "/v1/things/{thing}", id: "echo", "Returns what it was asked.")
    {
        request in
        try .json([
            "thing": request.path("thing"), "limit": "\(try request.limit())",
            "colour": try request.choice("colour", Colour.self)?.rawValue ?? "none",
        ])
    }
    .parameters(
        .limit(),
        .query("colour", "A colour."),
        .query("text", "Any text."),
        .header("idempotency", "A key.")
    )

    private static func respond(
        _ path: String,
        _ policy: APIOperation<Never>.QueryPolicy = .strict
    ) async throws -> InProcessRouter.Result {
        let router = InProcessRouter()
        router.add([Self.echo], query: policy)
        return try await router.respond(.get, path)
    }

    @Test func pathAndQueryAreDecoded() async throws {
        let response = try await Self.respond("/v1/things/a%20b?colour=green&limit=7")
        #expect(response.json == ["thing": "a b", "limit": "7", "colour": "green"])
        #expect(try await Self.respond("/v1/things/a").json == ["thing": "a", "limit": "100", "colour": "none"])
        for path in ["%ff", "a%00", "%00a"] {
            #expect(try await Self.respond("/v1/things/\(path)").json["thing"] == "", "\(path)")
        }
    }

    @Test(arguments: [
        ("limit=0", "invalid_value", "limit"), ("limit=1001", "invalid_value", "limit"),
        ("limit=x", "invalid_value", "limit"), ("limit=", "invalid_value", "limit"),
        ("colour=blue", "invalid_value", "colour"), ("limit=1&limit=2", "invalid_value", "limit"),
        ("colour=red%00", "invalid_value", "colour"), ("text=a%00b", "invalid_value", "text"),
        ("size=1", "unknown_parameter", "size"), ("idempotency=1", "unknown_parameter", "idempotency"),
    ])
    func anInvalidQueryItemIsNamed(query: String, code: String, field: String) async throws {
        let response = try await Self.respond("/v1/things/a?\(query)")
        #expect(response.status == 400)
        #expect(response.json["error"]["code"].stringValue == code)
        #expect(response.json["error"]["field"].stringValue == field)
    }

    @Test func aLenientQueryIgnoresUnknownAndRepeatedItems() async throws {
        let response = try await Self.respond("/v1/things/a?size=1&limit=2&limit=x", .lenient)
        #expect(response.json["limit"] == "2")
        #expect(try await Self.respond("/v1/things/a?limit=x", .lenient).status == 400)
        #expect(try await Self.respond("/v1/things/a?text=a%00b", .lenient).status == 400)
    }

    @Test(arguments: [(64, 200), (65, 413)])
    func aBodyHasALimit(length: Int, status: Int) async throws {
        let router = InProcessRouter()
        router.add([
            .init(.post, "/v1/things", .readOnly, id: "read", "Reads a body.") {
                try .json(["length": try await $0.body().count])
            }
            .body(.any, maximum: 64)
        ])
        let response = try await router.respond(.post, "/v1/things", body: String(repeating: "a", count: length))
        #expect(response.status == status)
        if status == 413 { #expect(response.json["error"]["code"] == "body_too_large") }
    }

    @Test(arguments: [
        ("", "invalid_json"), ("[]", "invalid_json"), ("{}", "missing_field"), (#"{"x":1}"#, "unknown_field"),
    ])
    func membersOfABodyAreChecked(body: String, code: String) async throws {
        let router = InProcessRouter()
        let name = Member.text("name", 1...10)
        router.add([
            .init(.post, "/v1/things", .readOnly, id: "read", "Reads a body.") {
                let fields = try await $0.fields(RequestObject(required: [name]))
                let read: JSONValue = ["name": .string(try fields.required(name))]
                return try .json(read)
            }
            .body(.any)
        ])
        #expect(try await router.respond(.post, "/v1/things", body: #"{"name":"a"}"#).json == ["name": "a"])
        #expect(try await router.respond(.post, "/v1/things", body: body).json["error"]["code"].stringValue == code)
    }

    @Test func theReaderOfABodyDecidesAboutIt() async throws {
        let router = InProcessRouter()
        let operation = APIOperation<Never>(.post, "/v1/things", .readOnly, id: "read", "Reads a body.") {
            _ = try await $0.body()
            return .noContent
        }
        .body(.any)
        let lengths = Mutex<[Int]>([])
        router.router.add([operation]) { operation, request, context in
            let read: @Sendable (Request, Int) async throws -> Data = { request, maximum in
                let body = try await request.wholeBody(maximum: maximum)
                lengths.withLock { $0.append(body.count) }
                guard body.count < 5 else {
                    throw RequestError(.rateLimited, code: "too_many_bytes", message: "slower")
                }
                return body
            }
            return try await operation.respond(to: request, context, query: .strict, readBody: read)
        }
        #expect(try await router.respond(.post, "/v1/things", body: "1234").status == 204)
        #expect(try await router.respond(.post, "/v1/things", body: "12345").status == 429)
        #expect(lengths.withLock { $0 } == [4, 5])
    }

    /// The rate of a streamed body is a property of the operation, and reaches the handlers of the connection.
    @Test(arguments: [StreamedBody(minimumBytes: 7), nil])
    func aStreamedBodyIsAnnouncedToTheConnection(stream: StreamedBody?) async throws {
        let router = InProcessRouter()
        let recorder = StreamRecorder()
        try await router.channel.pipeline.addHandler(recorder).get()
        router.add([
            .init(.post, "/v1/things", .unaudited, id: "upload", "Takes a stream.") { _ in .noContent }
                .body(BodyDescription(.string(), stream: stream))
        ])
        #expect(try await router.respond(.post, "/v1/things").status == 204)
        try await router.channel.eventLoop.submit {}.get()
        #expect(recorder.streams.withLock { $0 } == (stream.map { [$0] } ?? []))
    }
}

/// Records the streams that are announced to a connection.
private final class StreamRecorder: ChannelInboundHandler, Sendable {
    typealias InboundIn = Never

    let streams = Mutex<[StreamedBody]>([])

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let stream = event as? StreamedBody { self.streams.withLock { $0.append(stream) } }
    }
}
