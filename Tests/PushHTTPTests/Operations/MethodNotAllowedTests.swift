import HTTPTypes
import Hummingbird
import PushHTTP
import PushSupport
import PushTesting
import Testing

/// Methods that a path does not know (RFC 9110 section 15.5.6).
@Suite struct MethodNotAllowedTests {
    private static var router: InProcessRouter {
        let router = InProcessRouter()
        router.add([
            .init(.get, "/v1/apps/{app}", id: "show", "Shows an app.") { _ in try .json(["a": 1]) },
            .init(.delete, "/v1/apps/{app}", .unaudited, id: "delete", "Deletes an app.") { _ in .noContent },
        ])
        router.router.addMethodNotAllowedResponses()
        return router
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "QUERY"])
    func theResponseNamesTheKnownMethods(name: String) async throws {
        let method = try #require(HTTPRequest.Method(name))
        let response = try await Self.router.respond(method, "/v1/apps/a")
        #expect(response.status == 405)
        #expect(response.headers[.allow] == "DELETE, GET")
        // A response to HEAD has no body (RFC 9110 section 9.3.2).
        #expect(response.json["error"]["code"] == (method == .head ? .null : "method_not_allowed"))
    }

    @Test func knownMethodsAreUnaffected() async throws {
        #expect(try await Self.router.respond(.get, "/v1/apps/a").json == ["a": 1])
        #expect(try await Self.router.respond(.delete, "/v1/apps/a").status == 204)
        #expect(try await Self.router.respond(.put, "/v1/other").status == 404)
    }
}
