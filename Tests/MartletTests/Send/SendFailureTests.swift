import Foundation
import PushTesting
import Testing

@testable import martlet

/// `martlet send` when the provider does not respond, or not with what it has done.
@Suite(.timeLimit(.patience)) struct SendFailureTests {
    private static let accepted = ScriptedServer.response(202, #"{"id":"n1","state":"accepted"}"#)
    /// Responses that leave open whether the notification is accepted; `nil` closes the connection.
    private static let indefinite: [String?] = [
        nil, ScriptedServer.response(502, "<html>bad gateway</html>"), ScriptedServer.response(503, "try later"),
        ScriptedServer.response(500, #"{"error":{"code":"internal_error","message":"an error"}}"#),
        ScriptedServer.response(503, #"{"error":{"code":"storage_unavailable","message":"the disk is full"}}"#),
        "HTTP/1.1 202 Accepted\r\ncontent-length: 999\r\nconnection: close\r\n\r\n{\"id\":",
    ]

    private static func words(_ port: Int, _ more: [String] = []) -> [String] {
        let access = ["--app", Vectors.bundleID, "--server", "http://127.0.0.1:\(port)", "--api-key", "mk_x"]
        return ["send", "--all", "--body", "Hi"] + access + more
    }

    /// Returns the idempotency keys of requests.
    private static func keys(_ requests: [String]) -> [String] {
        let name = "idempotency-key: "
        return requests.flatMap { $0.split(whereSeparator: \.isNewline) }
            .filter { $0.lowercased().hasPrefix(name) }
            .map { String($0.dropFirst(name.count)) }
    }

    @Test(arguments: Self.indefinite.indices)
    func aRequestWithoutADefiniteResponseIsRepeatedWithItsKey(index: Int) async throws {
        let first = Self.indefinite[index]
        try await ScriptedServer.run({ $1 < 3 ? first : Self.accepted }) { server, port in
            let printed = try await martlet(Self.words(port))
            #expect(printed == "n1")
            let keys = Self.keys(server.requests)
            #expect(keys.count == 3 && Set(keys).count == 1)
        }
    }

    @Test(arguments: Self.indefinite.indices)
    func theErrorNamesTheKeyOfWhatMayBeAccepted(index: Int) async throws {
        let response = Self.indefinite[index]
        try await ScriptedServer.run({ _, _ in response }) { server, port in
            let error = await #expect(throws: SettingsError.self) { try await martlet(Self.words(port)) }
            let keys = Self.keys(server.requests)
            #expect(keys.count == 3)
            let advice = "may have been accepted: repeat the command with --idempotency-key \(keys.first ?? "?")"
            #expect(error?.description.contains(advice) == true)
            #expect(error?.status != .done)
        }
    }

    /// What a later try is told says nothing about the first.
    @Test func aRefusalAfterALostResponseNamesTheKey() async throws {
        let refusal = ScriptedServer.response(400, #"{"error":{"code":"invalid_value","message":"no"}}"#)
        try await ScriptedServer.run({ $1 == 1 ? nil : refusal }) { server, port in
            let words = Self.words(port, ["--idempotency-key", "k"])
            let error = await failure { try await martlet(words) }
            #expect(error?.hasPrefix("the server rejected the request: no; ") == true)
            #expect(error?.hasSuffix("--idempotency-key k") == true)
            #expect(server.requests.count == 2)
        }
    }

    @Test(arguments: [(400, "invalid_value"), (429, "too_many_requests"), (503, "too_many_queries")])
    func aRefusalIsNotRepeated(status: Int, code: String) async throws {
        let response = ScriptedServer.response(status, #"{"error":{"code":"\#(code)","message":"no"}}"#)
        try await ScriptedServer.run({ _, _ in response }) { server, port in
            await #expect(throws: APIErrorResponse.self) { try await martlet(Self.words(port)) }
            #expect(server.requests.count == 1)
        }
    }

    @Test func aResponseOfAnotherServerNamesTheKey() async throws {
        try await ScriptedServer.run({ _, _ in ScriptedServer.response(200, "<html></html>") }) { server, port in
            let error = await failure { try await martlet(Self.words(port, ["--idempotency-key", "k"])) }
            #expect(error?.contains("is no Martlet provider") == true)
            #expect(error?.hasSuffix("--idempotency-key k") == true)
            #expect(server.requests.count == 1)
        }
    }

    /// A provider of which a notification is followed.
    private static func provider(
        _ looks: @escaping @Sendable (_ number: Int) -> String?
    ) -> @Sendable (String, Int) -> String? {
        { request, number in
            if request.hasPrefix("GET /v1/key ") { return ScriptedServer.response(200, #"{"scopes":["admin"]}"#) }
            // The key and the notification were the first two.
            return request.hasPrefix("POST ") ? Self.accepted : looks(number - 2)
        }
    }

    @Test func aLookThatFailsIsRepeated() async throws {
        let done = ScriptedServer.response(200, #"{"id":"n1","state":"done","counters":{"accepted":1}}"#)
        let provider = Self.provider { number in
            switch number {
            case 1: ScriptedServer.response(502, "")
            case 2: nil
            case 3: ScriptedServer.response(429, "{}")
            default: done
            }
        }
        try await ScriptedServer.run(provider) { server, port in
            let lines = try await martlet(Self.words(port, waiting)).split(separator: "\n")
            #expect(lines.first == "n1" && lines.count == 2)
            #expect(server.requests.count { $0.hasPrefix("GET /v1/notifications/n1 ") } == 4)
        }
    }

    @Test func anInterruptionNamesTheKey() async throws {
        try await SilentServer.run { port in
            let words = Self.words(port, ["--idempotency-key", "k"])
            let error = await #expect(throws: SettingsError.self) { try await martlet(words, interruption: {}) }
            #expect(error?.description.hasPrefix("interrupted before the response; ") == true)
            #expect(error?.description.hasSuffix("--idempotency-key k") == true)
            #expect(error?.status == .unavailable)
        }
    }

    @Test func anInterruptionOfTheWaitSaysThatItGoesOn() async throws {
        let looked = Gate()
        let look: @Sendable (Int) -> String? = { _ in
            looked.open()
            return ScriptedServer.response(200, #"{"id":"n1","state":"sending"}"#)
        }
        try await ScriptedServer.run(Self.provider(look)) { _, port in
            let words = Self.words(port, waiting)
            let error = await #expect(throws: SettingsError.self) {
                try await martlet(words, interruption: { await looked.pass() })
            }
            #expect(error?.description.contains("'martlet notification watch n1' follows it") == true)
            #expect(error?.status == .unfinished)
        }
    }
}
