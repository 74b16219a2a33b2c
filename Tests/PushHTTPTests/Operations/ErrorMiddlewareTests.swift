import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL
import PushHTTP
import PushSupport
import PushTesting
import Synchronization
import Testing

/// The mapping of errors to responses.
@Suite struct ErrorMiddlewareTests {
    @Test(arguments: [
        (RequestError.Kind.invalid, 400), (.unauthenticated, 401), (.forbidden, 403), (.notFound, 404),
        (.methodNotAllowed, 405), (.timeout, 408), (.conflict, 409), (.tooLarge, 413), (.unsupportedType, 415),
        (.rateLimited, 429), (.internalError, 500), (.unavailable, 503),
    ])
    func eachKindHasAStatus(kind: RequestError.Kind, status: Int) async throws {
        #expect(kind.status.code == status)
        let router = InProcessRouter()
        router.router.get("/fails") { _, _ -> String in
            throw RequestError(kind, code: "some_code", message: "why", path: "to.tokens[3]")
        }
        let response = try await router.respond(.get, "/fails")
        #expect(response.status == status)
        #expect(response.headers[.contentType] == "application/json")
        #expect(response.headers[.wwwAuthenticate] == (kind == .unauthenticated ? "Bearer" : nil))
        let error: JSONValue = ["code": "some_code", "message": "why", "field": "to.tokens[3]"]
        #expect(response.json == ["error": error])
    }

    @Test func everyKindIsTested() {
        #expect(RequestError.Kind.allCases.count == 12)
    }

    @Test func anErrorWithoutAPathHasNoField() async throws {
        let router = InProcessRouter()
        router.router.get("/fails") { _, _ -> String in throw RequestError.conflict("busy", "try again") }
        #expect(try await router.respond(.get, "/fails").json == ["error": ["code": "busy", "message": "try again"]])
    }

    @Test func anUnknownPathIsNotFound() async throws {
        let response = try await InProcessRouter().respond(.get, "/nowhere")
        #expect(response.status == 404)
        #expect(response.json["error"]["code"] == "not_found")
    }

    @Test func anErrorOfTheServerKeepsItsStatus() async throws {
        let router = InProcessRouter()
        router.router.get("/fails") { _, _ -> String in throw HTTPError(.notAcceptable) }
        let response = try await router.respond(.get, "/fails")
        #expect(response.status == 406)
        #expect(response.json["error"]["code"] == "refused")
    }

    @Test func aBodyThatIsNotHTTPIsTheClientsError() async throws {
        let router = InProcessRouter()
        router.router.get("/body") { _, _ -> String in throw HTTPParserError.invalidChunkSize }
        let response = try await router.respond(.get, "/body")
        #expect(response.status == 400)
        #expect(response.json["error"]["code"] == "malformed_request")
        // Routes with errors of their own read it from here.
        #expect(RequestError(ofHTTP: HTTPParserError.invalidEOFState)?.kind == .invalid)
        #expect(RequestError(ofHTTP: CocoaError(.fileWriteOutOfSpace)) == nil)
    }

    /// Before, each was an error line of its own.
    @Test(
        arguments: [
            IOError(errnoCode: ECONNRESET, reason: "read"), NIOSSLError.uncleanShutdown, ChannelError.inputClosed,
            NIOHTTP2Errors.streamClosed(streamID: 1, errorCode: .cancel), CancellationError(),
        ] as [any Error]
    )
    func aClientThatHasGoneIsNoFailure(error: any Error) async throws {
        let log = RecordedLog()
        let router = InProcessRouter(logger: log.logger)
        router.router.get("/body") { _, _ -> String in throw error }
        let response = try await router.respond(.get, "/body")
        #expect(response.status == 503)
        #expect(response.json["error"]["code"] == "client_gone")
        #expect(log.lines.isEmpty)
    }

    @Test func aFullDiskIsNoClientThatHasGone() {
        #expect(RequestError(ofHTTP: IOError(errnoCode: ENOSPC, reason: "write")) == nil)
    }

    @Test func failuresFillNoLog() async throws {
        struct Failure: Error {}
        let log = RecordedLog()
        let router = InProcessRouter(logger: log.logger)
        router.router.get("/fails") { _, _ -> String in throw Failure() }
        for _ in 0..<100 { #expect(try await router.respond(.get, "/fails").status == 500) }
        #expect(log.lines.count == Logger.maximumLinesPerMinute)
    }

    @Test func theCauseOfAFailureIsLoggedAndNotShown() async throws {
        struct Failure: Error {}
        let token = String(repeating: "0a1b2c3d", count: 8)
        let log = RecordedLog()
        let router = InProcessRouter(logger: log.logger)
        router.router.get("/v1/devices/{token}") { _, _ -> String in throw Failure() }
        let response = try await router.respond(.get, "/v1/devices/\(token)")
        #expect(response.status == 500)
        #expect(response.json["error"]["code"] == "internal")
        let lines = log.lines
        #expect(lines.count == 1)
        #expect(lines.first?.contains("Failure()") == true)
        #expect(lines.first?.contains("/v1/devices/0a1b2c…") == true)
        #expect(lines.first?.contains(token) == false)
    }
}
